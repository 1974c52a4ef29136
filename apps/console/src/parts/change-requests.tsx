import type { Schemas } from '../api.ts'
import { actorName } from '../words.ts'
import type { Column } from './data-table.tsx'
import { Instant } from './instant.tsx'
import { rupees } from './money.tsx'
import { StatusBadge } from './status-badge.tsx'

/** What of a request console and portal show. */
type ChangeRequest = Omit<Schemas['ChangeRequestRow'], 'merchantId' | 'merchantName'>

export const wantedOf = ({ ends, fixed = '', holder, ifsc, kind, percent, vpa }: ChangeRequest): string => {
  if (kind === 'payment_address') return `UPI address ${vpa}`
  if (kind === 'fee') return `Fee of ${percent} % and ${rupees(fixed)} for each payment`
  return `Bank account ••${ends} of ${holder}, ${ifsc}`
}

/** What was asked for, by whom, and what came of it. */
export const CHANGE_COLUMNS: readonly Column<ChangeRequest>[] = [
  { title: 'Asked for', cell: wantedOf },
  {
    title: 'By',
    cell: ({ requestedBy, requestedOn }) => (
      <>
        {actorName(requestedBy)}, <Instant at={requestedOn} />
      </>
    ),
  },
  {
    title: 'Status',
    cell: ({ decidedOn, reason, status }) => (
      <>
        <StatusBadge state={status} /> {decidedOn && <Instant at={decidedOn} />} {reason}
      </>
    ),
  },
]
