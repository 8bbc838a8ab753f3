// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

/** A time, as C's {@code struct timeval}. */
public class TimeVal {
    /** Seconds. */
    public long tv_sec;
    /** Microseconds. */
    public long tv_usec;

    /** A time of 0. */
    public TimeVal() {}

    /**
     * @param seconds seconds
     * @param microseconds microseconds in addition to the seconds
     */
    public TimeVal(long seconds, long microseconds) {
        tv_sec = seconds;
        tv_usec = microseconds;
    }

    @Override
    public String toString() {
        return String.format("%d.%06d s", tv_sec, tv_usec);
    }
}
