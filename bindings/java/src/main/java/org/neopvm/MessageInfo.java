// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * The head of a message.
 *
 * @param source the task that sent it
 * @param tag its tag
 * @param context its context; 0 unless somebody chose another
 * @param encoding how its data are stored
 * @param bytes its length as {@code pvm_bufinfo} tells it
 */
public record MessageInfo(int source, int tag, int context, Encoding encoding, long bytes) {
    @Override
    public String toString() {
        return "message of task t" + Integer.toHexString(source) + " with tag " + tag;
    }
}
