#pragma once

#include "cli/manual/flag_facts.h"
