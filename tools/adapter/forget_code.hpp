// SPDX-License-Identifier: MIT
#pragma once

/// Unmaps the code and constants that the start has used, where the rest of the process is large;
/// what is needed again is in the page cache.
void forget_code();
