// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

/** A listener for all messages. What to do with them is still to be said. */
public abstract class PVMMessageBufferAdapter implements PVMMessageBufferListener {
    /** For classes that extend it. */
    protected PVMMessageBufferAdapter() {}

    @Override
    public int lookingForTID() {
        return -1;
    }

    @Override
    public int lookingForMessageTag() {
        return -1;
    }

    @Override
    public abstract void receivedPVMMessageBuffer(PVMMessageBuffer buffer);
}
