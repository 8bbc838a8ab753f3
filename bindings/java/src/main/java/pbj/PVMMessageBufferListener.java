// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

/** A listener for messages of one sender and tag ({@link PVMTask#addPVMMessageBufferListener}). */
public interface PVMMessageBufferListener {
    /** Returns the id of the sender whose messages the listener wants; -1 means any. */
    int lookingForTID();

    /** Returns the tag of the messages that the listener wants; -1 means any. */
    int lookingForMessageTag();

    /** Is called with each message that arrives. */
    void receivedPVMMessageBuffer(PVMMessageBuffer buffer);
}
