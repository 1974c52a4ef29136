import type { Secret } from '@svc/kernel/secret'
import { address, hidden, networks, type Setting, whole } from './setting.ts'

/** How evidence of disputes reaches the bank, and how long its attachments are kept (decision Q17). */
export const DISPUTE_SETTINGS = {
  DISPUTE_EVIDENCE_URL: hidden(
    address(
      ['https:', 'http:'],
      'Where evidence of disputes is sent to the bank, signed with the first key of `UPI_RAIL_KEYS`; `http:` in sandbox mode only. Without it, operators send evidence as a file. Secret because such addresses often contain a token.',
    ),
  ),
  DISPUTE_EVIDENCE_NETWORKS: {
    ...networks,
    meaning:
      'Private networks that `DISPUTE_EVIDENCE_URL` may lead to, such as `10.20.0.0/16`. Sandbox mode allows loopback besides.',
  },
  DISPUTE_EVIDENCE_TIMEOUT_MS: whole(
    60_000,
    100,
    300_000,
    'Time for one attempt to send evidence to the bank: with its attachments it has up to 35 MB.',
  ),
  DISPUTE_ATTACHMENT_DAYS: whole(
    180,
    1,
    3_650,
    'How long the files of evidence are kept after their dispute has ended; then they are erased.',
  ),
} satisfies Record<string, Setting<unknown, string | undefined>>

interface Given {
  readonly SVC_MODE: 'live' | 'sandbox'
  readonly DISPUTE_EVIDENCE_URL?: Secret | undefined
}

/** What is wrong with these settings together; `isSet`: whether a setting was given. */
export function disputeErrors(
  { SVC_MODE, DISPUTE_EVIDENCE_URL: url }: Given,
  isSet: (name: string) => boolean,
): string[] {
  if (SVC_MODE !== 'live' || url === undefined) return []
  return [
    ...(isSet('UPI_RAIL_KEYS') ? [] : ['UPI_RAIL_KEYS is needed with DISPUTE_EVIDENCE_URL']),
    ...(url.reveal().startsWith('http:') ? ['DISPUTE_EVIDENCE_URL must begin with https: in live mode'] : []),
  ]
}
