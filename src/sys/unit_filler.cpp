// SPDX-License-Identifier: MIT

// Nothing: src/meson.build says where it is needed.
