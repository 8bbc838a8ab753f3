// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * What a task exposes under a number.
 *
 * @param bytes its size
 * @param isWritable true if tasks other than its owner may write it
 */
public record MemoryInfo(long bytes, boolean isWritable) {}
