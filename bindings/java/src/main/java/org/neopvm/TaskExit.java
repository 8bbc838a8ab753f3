// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * A task has ended or left the machine. The messages that it had sent have arrived before this
 * event.
 *
 * @param task the task
 */
public record TaskExit(TaskId task) {}
