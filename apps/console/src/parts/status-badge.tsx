import { Badge } from '@mantine/core'

/** Colour and wording of every state that the service speaks of; the words carry the meaning, the colour helps. */
const STATES: Readonly<Record<string, readonly [label: string, color: string]>> = {
  ACTIVE: ['Active', 'teal'],
  active: ['Active', 'teal'],
  disabled: ['Disabled', 'red'],
  INACTIVE: ['Inactive', 'gray'],
  CANCELLED: ['Cancelled', 'gray'],
  EXPIRED: ['Expired', 'orange'],
  DISABLED: ['Disabled', 'red'],
  REVOKED: ['Revoked', 'red'],
  UL: ['Unlocked', 'teal'],
  L: ['Locked', 'yellow'],
  BL: ['Blocked', 'red'],
  AP: ['Activation in progress', 'blue'],
  ACCEPTED: ['Accepted', 'teal'],
  REFUND_PENDING: ['Refund pending', 'orange'],
  REFUNDED: ['Refunded', 'grape'],
  SUSPENSE: ['In suspense', 'orange'],
  ASSIGNED: ['Assigned', 'gray'],
  UNASSIGNED: ['Assignment taken back', 'gray'],
  DISMISSED: ['Dismissed', 'gray'],
  VERIFIED: ['Verified', 'teal'],
  FAILED: ['Failed', 'red'],
  PENDING: ['Pending', 'blue'],
  SETTLED: ['Settled', 'teal'],
  OPEN: ['Open', 'blue'],
  CREDITED: ['Credited', 'teal'],
  ENTERED_BEFORE: ['Entered before', 'gray'],
  QUARANTINED: ['In quarantine', 'orange'],
  DUPLICATE: ['Repeats another', 'gray'],
  IGNORED: ['Ignored', 'gray'],
  EVIDENCE_SUBMITTED: ['Evidence submitted', 'indigo'],
  WON: ['Won', 'teal'],
  LOST: ['Lost', 'red'],
  PLANNED: ['Planned', 'blue'],
  PREPARED: ['Prepared', 'blue'],
  APPROVED: ['Approved', 'indigo'],
  SENT: ['Sent to the bank', 'blue'],
  PAID: ['Paid', 'teal'],
  INCOMPLETE: ['Incomplete', 'orange'],
  POSTED: ['Posted', 'blue'],
  CONFIRMED: ['Confirmed', 'teal'],
  DIFFERS: ['Differs', 'red'],
  REVERSED: ['Taken back', 'gray'],
  UNMATCHED: ['Unmatched', 'orange'],
  MATCHED: ['Matched', 'teal'],
  RESOLVED: ['Resolved', 'gray'],
  BOOKED: ['Booked', 'gray'],
  RUNNING: ['Running', 'blue'],
  REQUESTED: ['Needs a second person', 'orange'],
  CLOSED: ['Closed', 'teal'],
  waiting: ['Waiting', 'blue'],
  expired: ['Expired', 'orange'],
  opened: ['Opened', 'teal'],
  open: ['Open', 'orange'],
  acknowledged: ['Acknowledged', 'blue'],
  closed: ['Closed', 'gray'],
  critical: ['Critical', 'red'],
  warning: ['Warning', 'orange'],
}

const words = (state: string) => {
  const text = state.replaceAll('_', ' ').toLowerCase()
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export const statusLabel = (state: string): string => STATES[state]?.[0] ?? words(state)

export function StatusBadge({ state, label }: { readonly state: string; readonly label?: string }) {
  return <Mark color={STATES[state]?.[1] ?? 'blue'}>{label ?? statusLabel(state)}</Mark>
}

/** A word on a coloured ground that can be read in light and dark. */
export function Mark({ color, children }: { readonly color: string; readonly children: string }) {
  return (
    <Badge variant="light" color={color} radius="sm" tt="none" className="mark" style={{ flexShrink: 0 }}>
      {children}
    </Badge>
  )
}

/** Status of a response: green, orange for the caller's mistakes, red for ours. */
export function HttpStatus({ status }: { readonly status: number }) {
  return <Mark color={status >= 500 ? 'red' : status >= 400 ? 'orange' : 'teal'}>{String(status)}</Mark>
}
