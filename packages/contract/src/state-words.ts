/** What a state means for people: done, waits for something, bad, on its way, or over. */
export type Tone = 'done' | 'waits' | 'bad' | 'info' | 'neutral'

/** Word and tone of every state that the service speaks of, for pages and PDF; CSV has the states themselves. */
const STATES: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  ACTIVE: ['Active', 'done'],
  active: ['Active', 'done'],
  disabled: ['Disabled', 'bad'],
  INACTIVE: ['Inactive', 'neutral'],
  CANCELLED: ['Cancelled', 'neutral'],
  EXPIRED: ['Expired', 'neutral'],
  DISABLED: ['Disabled', 'bad'],
  REVOKED: ['Revoked', 'bad'],
  UL: ['Unlocked', 'done'],
  L: ['Locked', 'waits'],
  BL: ['Blocked', 'bad'],
  AP: ['Activation in progress', 'info'],
  ACCEPTED: ['Accepted', 'done'],
  REFUND_PENDING: ['Refund pending', 'waits'],
  REFUNDED: ['Refunded', 'neutral'],
  SUSPENSE: ['In suspense', 'waits'],
  ASSIGNED: ['Assigned', 'neutral'],
  UNASSIGNED: ['Assignment taken back', 'neutral'],
  DISMISSED: ['Dismissed', 'neutral'],
  VERIFIED: ['Verified', 'done'],
  FAILED: ['Failed', 'bad'],
  PENDING: ['Pending', 'info'],
  SETTLED: ['Settled', 'done'],
  OPEN: ['Open', 'info'],
  CREDITED: ['Credited', 'done'],
  ENTERED_BEFORE: ['Entered before', 'neutral'],
  QUARANTINED: ['In quarantine', 'waits'],
  DUPLICATE: ['Repeats another', 'neutral'],
  IGNORED: ['Ignored', 'neutral'],
  EVIDENCE_SUBMITTED: ['Evidence submitted', 'info'],
  WON: ['Won', 'done'],
  LOST: ['Lost', 'bad'],
  PLANNED: ['Planned', 'info'],
  PREPARED: ['Prepared', 'info'],
  APPROVED: ['Approved', 'info'],
  SENT: ['Sent to the bank', 'info'],
  PAID: ['Paid', 'done'],
  INCOMPLETE: ['Incomplete', 'waits'],
  POSTED: ['Posted', 'info'],
  CONFIRMED: ['Confirmed', 'done'],
  DIFFERS: ['Differs', 'bad'],
  REVERSED: ['Taken back', 'neutral'],
  UNMATCHED: ['Unmatched', 'waits'],
  MATCHED: ['Matched', 'done'],
  RESOLVED: ['Resolved', 'neutral'],
  BOOKED: ['Booked', 'neutral'],
  RUNNING: ['Running', 'info'],
  REQUESTED: ['Needs a second person', 'waits'],
  CLOSED: ['Closed', 'done'],
  waiting: ['Waiting', 'info'],
  expired: ['Expired', 'neutral'],
  opened: ['Opened', 'done'],
  open: ['Open', 'waits'],
  acknowledged: ['Acknowledged', 'info'],
  closed: ['Closed', 'neutral'],
  critical: ['Critical', 'bad'],
  warning: ['Warning', 'waits'],
}

const inWords = (state: string): string => {
  const text = state.replaceAll('_', ' ').toLowerCase()
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export const stateWord = (state: string): string => STATES[state]?.[0] ?? inWords(state)
export const stateTone = (state: string): Tone => STATES[state]?.[1] ?? 'info'
