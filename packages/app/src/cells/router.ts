import { createConnection } from 'node:net'

/** The map of tenants in `deploy/haproxy/cells.cfg`, as HAProxy's socket names it. */
const MAP = '/etc/haproxy/maps/tenants.map'

/** Changes the entry of each tenant in the map of running HAProxies; one that is not there is added. */
export async function setRoutes(
  sockets: readonly string[],
  tenants: readonly string[],
  cell: string,
  map = process.env['HAPROXY_TENANTS_MAP'] ?? MAP,
): Promise<void> {
  for (const socket of sockets)
    for (const tenant of tenants) {
      const said = await command(socket, `set map ${map} ${tenant} ${cell}`)
      if (said !== '') await command(socket, `add map ${map} ${tenant} ${cell}`)
    }
}

const command = (socket: string, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const connection = createConnection(socket, () => connection.end(`${text}\n`))
    let said = ''
    connection.on('data', (chunk) => (said += chunk.toString()))
    connection.once('error', reject)
    connection.once('close', () => resolve(said.trim()))
  })
