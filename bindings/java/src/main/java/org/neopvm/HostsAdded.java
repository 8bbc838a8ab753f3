// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.util.List;

/**
 * Hosts have come into the machine.
 *
 * @param hosts which
 */
public record HostsAdded(List<HostInfo> hosts) {}
