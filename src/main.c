/* The dormouse command. Only wires.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

int main(void)
{
    puts("dormouse");
    return 0;
}
