// SPDX-License-Identifier: MIT

// Nothing: the headers beside it are compiled with its flags.
int main() {}
