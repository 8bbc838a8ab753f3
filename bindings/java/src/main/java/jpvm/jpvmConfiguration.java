// SPDX-License-Identifier: MIT OR Apache-2.0
package jpvm;

import java.util.List;
import org.neopvm.HostInfo;

/** The hosts of the machine at one moment. */
public class jpvmConfiguration {
    /** The number of hosts. */
    public int numHosts;
    /** The names of the hosts. */
    public String[] hostNames;
    /** The ids of the hosts' daemons. */
    public jpvmTaskId[] hostDaemonTids;

    jpvmConfiguration(List<HostInfo> hosts) {
        numHosts = hosts.size();
        hostNames = hosts.stream().map(HostInfo::name).toArray(String[]::new);
        hostDaemonTids =
                hosts.stream().map(host -> new jpvmTaskId(host.name(), host.tid())).toArray(jpvmTaskId[]::new);
    }
}
