/* What a shell can't try: single calls, tried from inside the sandbox.
 *
 * SPDX-License-Identifier: MIT
 */
int main(void)
{
    return 0;
}
