// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

import org.neopvm.HostInfo;

/** C's {@code struct pvmhostinfo}. */
public class PVMHostInfo {
    /** The id of the host's daemon. */
    public final int hi_tid;
    /** Its name. */
    public final String hi_name;
    /** Its architecture. */
    public final String hi_arch;
    /** Relative speed, 1000 unless configured. */
    public final int hi_speed;
    /** Data representation. */
    public final int hi_dsig;

    PVMHostInfo(HostInfo host) {
        hi_tid = host.tid();
        hi_name = host.name();
        hi_arch = host.arch();
        hi_speed = host.speed();
        hi_dsig = host.signature();
    }

    /** {@link #hi_tid} */
    public int getTID() {
        return hi_tid;
    }

    /** {@link #hi_name} */
    public String getName() {
        return hi_name;
    }

    /** {@link #hi_arch} */
    public String getArch() {
        return hi_arch;
    }

    /** {@link #hi_speed} */
    public int getSpeed() {
        return hi_speed;
    }

    @Override
    public String toString() {
        return hi_name + " (" + hi_arch + ", t" + Integer.toHexString(hi_tid) + ")";
    }
}
