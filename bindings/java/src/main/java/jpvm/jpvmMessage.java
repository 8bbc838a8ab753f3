// SPDX-License-Identifier: MIT OR Apache-2.0
package jpvm;

import org.neopvm.MessageInfo;
import org.neopvm.engine.Incoming;

/** A received message. */
public class jpvmMessage {
    /** The tag with which the message was sent. */
    public int messageTag;
    /** The task that sent the message. */
    public jpvmTaskId sourceTid;
    /** The task that received the message: this one. */
    public jpvmTaskId destTid;
    /** The data of the message. */
    public jpvmBuffer buffer;

    jpvmMessage(Incoming message, int self) {
        MessageInfo info = message.info();
        messageTag = info.tag();
        sourceTid = new jpvmTaskId(info.source());
        destTid = new jpvmTaskId(self);
        buffer = new jpvmBuffer(message, info);
    }
}
