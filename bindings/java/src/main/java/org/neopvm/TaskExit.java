// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * A task has ended or left the machine. What it had sent has arrived before this.
 *
 * @param task which
 */
public record TaskExit(TaskId task) {}
