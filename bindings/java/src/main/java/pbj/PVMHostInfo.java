// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

import org.neopvm.HostInfo;

/** A host, as C's {@code struct pvmhostinfo} describes it. */
public class PVMHostInfo {
    /** The id of the host's daemon. */
    public final int hi_tid;
    /** The name of the host. */
    public final String hi_name;
    /** The architecture. */
    public final String hi_arch;
    /** The relative speed; the first host has 1000. */
    public final int hi_speed;
    /** The data format: hosts with equal numbers need no conversion. */
    public final int hi_dsig;

    PVMHostInfo(HostInfo host) {
        hi_tid = host.tid();
        hi_name = host.name();
        hi_arch = host.arch();
        hi_speed = host.speed();
        hi_dsig = host.signature();
    }

    /** Returns {@link #hi_tid}. */
    public int getTID() {
        return hi_tid;
    }

    /** Returns {@link #hi_name}. */
    public String getName() {
        return hi_name;
    }

    /** Returns {@link #hi_arch}. */
    public String getArch() {
        return hi_arch;
    }

    /** Returns {@link #hi_speed}. */
    public int getSpeed() {
        return hi_speed;
    }

    @Override
    public String toString() {
        return hi_name + " (" + hi_arch + ", t" + Integer.toHexString(hi_tid) + ")";
    }
}
