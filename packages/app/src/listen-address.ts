import { lookup } from 'node:dns/promises'
import type { Config } from '@svc/contract/config'
import { listenError } from '@svc/server/http/listening'

/**
 * The address to listen on. Given the name `localhost`, Fastify would open a second server for the other address, without
 * our limits and error handlers (`multipleBindings` in its lib/server.js). Clients of the name try IPv4 as well.
 */
export async function listenAddress(config: Pick<Config, 'HOST' | 'PORT'>): Promise<string> {
  if (config.HOST !== 'localhost') return config.HOST
  try {
    return (await lookup(config.HOST, { order: 'ipv4first' })).address
  } catch (error) {
    throw listenError(error, config)
  }
}
