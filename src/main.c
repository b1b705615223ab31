/* The dormouse command. Only wires.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/command.h"

int main(int argc, char **argv)
{
    return cli_main(argc, argv);
}
