import { isIP } from 'node:net'
import { fail } from '@svc/contract/errors'

/** Of the ports that a host without privileges may open, those that belong to other protocols (WHATWG Fetch, section 2.9). */
const PORTS_OF_OTHERS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080,
])
const URL_CHARS_MAX = 2_048

export interface UrlRule {
  /** Sandbox mode: `http`, loopback and names of this host as well. */
  readonly sandbox: boolean
  readonly mayReach: (address: string) => boolean
}

const refuse = (why: string): never => fail('webhook_url_refused', { description: `url: ${why}` })

/**
 * The one spelling of an endpoint's URL that is kept and requested; throws `webhook_url_refused`. The parser turns every
 * spelling of an IPv4 address (decimal, octal, hex, short) into the dotted one. What a name leads to is checked when a
 * connection is made, each time.
 */
export function endpointUrl(text: string, { sandbox, mayReach }: UrlRule): string {
  if (text.length > URL_CHARS_MAX) refuse(`must have at most ${URL_CHARS_MAX} characters`)
  if (!URL.canParse(text)) refuse('must be an absolute URL')
  const url = new URL(text)
  if (url.protocol !== 'https:' && !(sandbox && url.protocol === 'http:')) refuse('must begin with https://')
  if (url.username !== '' || url.password !== '') refuse('must not hold credentials; send a header instead')
  if (url.hash !== '' || text.includes('#')) refuse('must not have a fragment')
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if ((port < 1_024 && port !== 443 && !(sandbox && port === 80)) || PORTS_OF_OTHERS.has(port))
    refuse('must name port 443, or one from 1024 on that no other protocol owns')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host)) {
    if (!mayReach(host)) refuse('its address is not public')
  } else if (!sandbox && !/^(?!-)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+$/.test(host))
    refuse('must name a public host')
  else if (
    !sandbox &&
    /(?:^|\.)(?:localhost|local|internal|intranet|lan|home\.arpa|onion|test|invalid|example)$/.test(host)
  )
    refuse('must name a public host')
  return url.href
}
