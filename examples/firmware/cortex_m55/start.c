// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
/* Cortex-M55: as the others; the unit for floats that is switched on is Helium, too. */
#include "../cortex_m/start.c"
