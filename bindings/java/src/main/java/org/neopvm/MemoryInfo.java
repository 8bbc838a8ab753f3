// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * The properties of exposed memory.
 *
 * @param bytes the size
 * @param isWritable true if tasks other than the owner may write the memory
 */
public record MemoryInfo(long bytes, boolean isWritable) {}
