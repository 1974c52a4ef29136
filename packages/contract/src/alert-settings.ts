import type { Secret } from '@svc/kernel/secret'
import { DEADLINE_SETTINGS } from './deadline-settings.ts'
import { address, bad, hidden, networks, type Setting, text, whole } from './setting.ts'

const secret = text(
  undefined,
  'Signs the calls to `ALERT_WEBHOOK_URL` as Standard Webhooks 1.0 says: `whsec_` and 24 to 64 bytes in base64. Make one with `echo whsec_$(openssl rand -base64 32)`.',
)

/** Alerts to the people who operate the service (decision O9). */
export const ALERT_SETTINGS = {
  ALERT_WEBHOOK_URL: hidden(
    address(
      ['https:', 'http:'],
      'Where alerts are sent as signed webhooks; `http:` in sandbox mode only. Needs `ALERT_WEBHOOK_SECRET`. Secret because such addresses often contain a token.',
    ),
  ),
  ALERT_WEBHOOK_SECRET: hidden({
    ...secret,
    type: '`whsec_` and base64',
    read: (value) =>
      /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/.test(value)
        ? value
        : bad('must be whsec_ and 24 to 64 bytes in base64'),
  }),
  ALERT_WEBHOOK_NETWORKS: {
    ...networks,
    meaning:
      'Private networks that `ALERT_WEBHOOK_URL` may lead to, such as `10.20.0.0/16`. They do not open these networks to the webhooks of tenants. Sandbox mode allows loopback besides.',
  },
  ALERT_SUSPENSE_HOURS: whole(
    24,
    1,
    8_760,
    'A credit that is in suspense for longer opens an alert for the operators.',
  ),
  ...DEADLINE_SETTINGS,
} satisfies Record<string, Setting<unknown, string | undefined>>

interface Given {
  readonly SVC_MODE: 'live' | 'sandbox'
  readonly ALERT_WEBHOOK_URL?: Secret | undefined
}

/** What is wrong with the settings of alerts together; `isSet`: whether a setting was given. */
export function alertErrors(
  { SVC_MODE, ALERT_WEBHOOK_URL: url }: Given,
  isSet: (name: string) => boolean,
): string[] {
  if (url === undefined) return []
  const isPlain = SVC_MODE === 'live' && url.reveal().startsWith('http:')
  return [
    ...(isSet('ALERT_WEBHOOK_SECRET') ? [] : ['ALERT_WEBHOOK_SECRET is needed with ALERT_WEBHOOK_URL']),
    ...(isPlain ? ['ALERT_WEBHOOK_URL must begin with https: in live mode'] : []),
  ]
}
