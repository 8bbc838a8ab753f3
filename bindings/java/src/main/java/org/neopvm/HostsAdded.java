// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.util.List;

/**
 * Hosts have been added to the machine.
 *
 * @param hosts the new hosts
 */
public record HostsAdded(List<HostInfo> hosts) {}
