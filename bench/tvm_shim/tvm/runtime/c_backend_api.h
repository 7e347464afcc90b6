#include "c_runtime_api.h"
