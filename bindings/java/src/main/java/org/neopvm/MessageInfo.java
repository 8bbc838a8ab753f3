// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * The envelope of a message.
 *
 * @param source the task that sent the message
 * @param tag the tag
 * @param context the context; 0 unless the sender chose another one
 * @param encoding the encoding of the data
 * @param bytes the length that {@code pvm_bufinfo} reports
 */
public record MessageInfo(int source, int tag, int context, Encoding encoding, long bytes) {
    @Override
    public String toString() {
        return "message of task t" + Integer.toHexString(source) + " with tag " + tag;
    }
}
