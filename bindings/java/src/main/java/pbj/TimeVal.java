// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

/** C's {@code struct timeval}. */
public class TimeVal {
    /** Seconds. */
    public long tv_sec;
    /** And microseconds. */
    public long tv_usec;

    /** No time. */
    public TimeVal() {}

    /**
     * @param seconds seconds
     * @param microseconds and microseconds
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
