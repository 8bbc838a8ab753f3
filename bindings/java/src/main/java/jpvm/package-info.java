// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * JPVM, the message passing of Ferrari (University of Virginia, 1996), on tasks of this machine. Programs that were
 * written for it compile unchanged, and their tasks talk with tasks in C, Python and any other language of the machine.
 * {@link jpvm.jPVM} is another interface of the time with a similar name: PVM's own calls as static methods.
 */
package jpvm;
