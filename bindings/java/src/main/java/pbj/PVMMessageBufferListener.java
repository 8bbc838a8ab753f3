// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

/** Wants messages of one kind, as they come ({@link PVMTask#addPVMMessageBufferListener}). */
public interface PVMMessageBufferListener {
    /** Whose messages; -1 is anybody's. */
    int lookingForTID();

    /** With which tag; -1 is any. */
    int lookingForMessageTag();

    /** A message has come. */
    void receivedPVMMessageBuffer(PVMMessageBuffer buffer);
}
