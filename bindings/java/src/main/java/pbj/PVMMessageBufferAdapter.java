// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

/** A listener for all messages. Subclasses implement {@link #receivedPVMMessageBuffer}. */
public abstract class PVMMessageBufferAdapter implements PVMMessageBufferListener {
    /** For subclasses. */
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
