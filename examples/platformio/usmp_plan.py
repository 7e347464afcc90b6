# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""Plans the models of platformio.ini in front of the build, and adds the C to it. usmp-plan is in PATH."""

import subprocess
from pathlib import Path

Import("env")  # noqa: F821: PlatformIO's own

project = Path(env.subst("$PROJECT_DIR"))  # noqa: F821
planned = Path(env.subst("$BUILD_DIR")) / "usmp_plan"  # noqa: F821
models = env.GetProjectOption("custom_usmp_models").split()  # noqa: F821
pools = env.GetProjectOption("custom_usmp_pools", "")  # noqa: F821
options = env.GetProjectOption("custom_usmp_options", "").split()  # noqa: F821
command = ["usmp-plan", *models, *(["--pools", pools] if pools else []), *options, "-o", str(planned), "--quiet"]
planned.parent.mkdir(parents=True, exist_ok=True)
if subprocess.run(command, cwd=project, check=False).returncode != 0:
    env.Exit(1)  # noqa: F821

env.Append(CPPPATH=[str(planned / "codegen/host/include")])  # noqa: F821
env.BuildSources(str(planned / "objects"), str(planned / "codegen/host/src"))  # noqa: F821
