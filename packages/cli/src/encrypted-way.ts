import { isLoopback } from '@svc/conformance/conformance'
import { UsageError } from './usage-error.ts'

/** Whether this user permits keys over `http:` to other machines: within a network of their own. */
export const allowsPlainHttp = (): boolean => process.env['SVC_ALLOW_HTTP'] === 'true'

/** Keys cross the network only encrypted; on this machine there is no network. */
export function requireEncryptedWay(url: URL): void {
  if (url.protocol !== 'http:' || isLoopback(url) || allowsPlainHttp()) return
  throw new UsageError(
    `${url.origin} is not this machine, and over http:// everybody on the way reads the keys that are sent. Use https://, or a tunnel that ends on this machine. Within a network of your own: SVC_ALLOW_HTTP=true`,
  )
}
