/* The dormouse command. Only wires.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/command.h"
#include "db/engine.h"
#include "loop/child.h"

int main(int argc, char **argv)
{
    if (child_launcher_asked(argc, argv))
        return child_launcher_main(argc, argv);
    db_own_process();
    return cli_main(argc, argv);
}
