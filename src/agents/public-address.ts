import { BlockList, isIP } from 'node:net';

// https://www.iana.org/assignments/iana-ipv4-special-registry, and multicast
const RESERVED_V4 = networks('ipv4', [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]);

/** All that is routed in the internet so far: what maps or embeds IPv4 (`::ffff:0:0/96`, `64:ff9b::/96`) is not in it. */
const GLOBAL_V6 = networks('ipv6', ['2000::/3']);

// https://www.iana.org/assignments/iana-ipv6-special-registry: protocols with Teredo, documentation, 6to4
const RESERVED_V6 = networks('ipv6', ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);

/** Whether an IP address is one of the public internet. What is no address, or has a zone, is not. */
export function isPublicAddress(address: string): boolean {
  if (address.includes('%')) return false;
  switch (isIP(address)) {
    case 4:
      return !RESERVED_V4.check(address, 'ipv4');
    case 6:
      return GLOBAL_V6.check(address, 'ipv6') && !RESERVED_V6.check(address, 'ipv6');
    default:
      return false;
  }
}

function networks(family: 'ipv4' | 'ipv6', subnets: string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = '', prefix] = subnet.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
