/* The launcher as an executable of its own, for programs whose main() is not ours (test suites).
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop/child.h"

int main(int argc, char **argv)
{
    return child_launcher_main(argc, argv);
}
