import { Alert, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { fileAsBody } from '../../api.ts'
import { once } from '../../form-key.ts'
import { ConfirmAction } from '../../parts/confirm-action.tsx'
import { factsOfPayment } from '../../parts/disputed-payment.tsx'
import {
  EvidenceAsked,
  EvidenceForm,
  EvidenceList,
  type Submission,
  timeLeft,
} from '../../parts/evidence.tsx'
import { Instant } from '../../parts/instant.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Money, rupees } from '../../parts/money.tsx'
import { Id } from '../../parts/object-link.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Timeline, type TimelineEntry } from '../../parts/timeline.tsx'
import { api, apiAt, payloadOf } from '../api.ts'
import { changed, useMember } from '../session.ts'

const load = async (disputeId: string) => {
  const params = { path: { disputeId } }
  const [dispute, { data: submissions }] = await Promise.all([
    payloadOf(api.GET('/disputes/{disputeId}', { params })),
    payloadOf(api.GET('/disputes/{disputeId}/evidence', { params })),
  ])
  const payment = await payloadOf(
    api.GET('/payments/{paymentId}', { params: { path: { paymentId: dispute.paymentId } } }),
  )
  return { dispute, submissions, payment }
}
type Found = Awaited<ReturnType<typeof load>>
type Dispute = Found['dispute']

/** One dispute of the merchant: what to do until when, what was submitted, and whether the bank has it. */
export function Dispute() {
  const { disputeId = '' } = useParams({ strict: false })
  const query = useQuery({
    queryKey: ['disputes', disputeId],
    queryFn: () => load(disputeId),
    refetchInterval: 10_000,
  })
  const found = query.data
  return (
    <Page
      title={found ? titleOf(found) : 'Dispute'}
      badge={found && <StatusBadge state={found.dispute.status} />}
      lead={
        found && (
          <>
            Paid <Instant at={found.payment.createdOn} />
          </>
        )
      }
      trail={[{ to: '/disputes', label: 'Disputes' }]}
      actions={found && <Actions found={found} />}
    >
      <Loaded query={query}>
        {({ dispute, submissions, payment }) => (
          <>
            <Note dispute={dispute} />
            <Asked dispute={dispute} />
            <div className="with-side">
              <Stack gap="md" style={{ minWidth: 0 }}>
                <Section title="What the payer says">
                  <Text>{dispute.reason ?? 'The bank gives no reason.'}</Text>
                </Section>
                <Section title="What you submitted">
                  <EvidenceList
                    submissions={submissions}
                    hrefOf={(id) =>
                      `${apiAt}/disputes/${encodeURIComponent(disputeId)}/attachments/${encodeURIComponent(id)}`
                    }
                    none="Nothing yet."
                  />
                </Section>
              </Stack>
              <Stack gap="md" style={{ minWidth: 0 }}>
                <Section title="Facts">
                  <Facts cols={1} facts={factsOf(dispute)} />
                </Section>
                <Paid payment={payment} />
              </Stack>
              <Section title="What happened">
                <Timeline entries={happened(dispute, submissions)} />
              </Section>
            </div>
          </>
        )}
      </Loaded>
    </Page>
  )
}

const Paid = ({ payment }: Pick<Found, 'payment'>) => (
  <Section title="Payment">
    <Facts cols={1} facts={factsOfPayment(payment)} />
  </Section>
)

const titleOf = ({ dispute: { amount }, payment: { payerVpa } }: Found): string =>
  `${rupees(amount)} disputed${payerVpa ? ` by ${payerVpa}` : ''}`

const isOpen = ({ status }: Dispute): boolean => status === 'OPEN' || status === 'EVIDENCE_SUBMITTED'

/** What the dispute does to what the merchant is owed. */
const EFFECTS: Readonly<Record<string, string>> = {
  OPEN: 'Held back until it is decided',
  EVIDENCE_SUBMITTED: 'Held back until it is decided',
  WON: 'Yours again: it is in your next payout',
  LOST: 'Left with the payer',
  ACCEPTED: 'Left with the payer',
}

const factsOf = (dispute: Dispute) => [
  { label: 'Amount', value: <Money amount={dispute.amount} fw={700} fz="lg" /> },
  { label: 'Your money', value: EFFECTS[dispute.status] },
  { label: 'Case', value: <Id id={dispute.caseReference} what="case" /> },
  { label: 'Evidence due', value: <Instant at={dispute.evidenceDueOn} /> },
  {
    label: 'Sent to the bank',
    value: dispute.evidenceSentOn ? <Instant at={dispute.evidenceSentOn} /> : 'not sent yet',
  },
  { label: 'Receipt', value: dispute.evidenceReceipt },
]

function Note({ dispute }: { readonly dispute: Dispute }) {
  const { amount, evidenceDueOn, evidenceSentOn, status } = dispute
  if (!isOpen(dispute)) return undefined
  const left = timeLeft(evidenceDueOn)
  const until = (
    <>
      <Instant at={evidenceDueOn} /> {left ? `(${left} left)` : '(over)'}
    </>
  )
  if (status === 'OPEN')
    return (
      <Alert color="orange" title="Submit evidence, or accept the dispute">
        Without evidence until {until} the payer wins, and {rupees(amount)} stays with the payer.
      </Alert>
    )
  return evidenceSentOn ? (
    <Alert color="blue" title="Your evidence was sent: the network decides">
      You can add more until {until}.
    </Alert>
  ) : (
    <Alert color="orange" title="Your evidence was not sent yet">
      It is stored, and waits to be sent to the bank. You can add more until {until}.
    </Alert>
  )
}

const Asked = ({ dispute }: { readonly dispute: Dispute }) => (
  <EvidenceAsked dispute={dispute}>
    More evidence is needed. Submit it until <Instant at={dispute.evidenceDueOn} />.
  </EvidenceAsked>
)

function Actions({ found: { dispute, submissions } }: { readonly found: Found }) {
  const { can } = useMember()
  const { amount, disputeId, evidenceDueOn, status } = dispute
  if (!isOpen(dispute) || !can('operator')) return undefined
  return (
    <>
      {status === 'OPEN' && can('admin') && (
        <ConfirmAction
          label="Accept the dispute"
          confirm="Give the money back"
          danger
          run={async (_, key) => {
            const sent = { params: { path: { disputeId }, header: once(key) }, body: {} }
            await payloadOf(api.POST('/disputes/{disputeId}/accept', sent))
            await changed('disputes')
          }}
        >
          {rupees(amount)} goes back to the payer. This cannot be undone.
        </ConfirmAction>
      )}
      {timeLeft(evidenceDueOn) !== undefined && (
        <EvidenceForm
          isMore={submissions.length > 0}
          primary
          description="What was delivered, when and to whom; it goes to the bank as it is"
          upload={(file, key) =>
            payloadOf(
              api.POST('/disputes/{disputeId}/attachments', {
                params: { path: { disputeId }, query: { name: file.name }, header: once(key) },
                ...fileAsBody(file),
              }),
            )
          }
          submit={async (body, key) => {
            const sent = { params: { path: { disputeId }, header: once(key) }, body }
            await payloadOf(api.POST('/disputes/{disputeId}/evidence', sent))
            await changed('disputes')
          }}
        />
      )}
    </>
  )
}

const ENDS: Readonly<Record<string, readonly [title: string, color: string]>> = {
  WON: ['Decided for you', 'teal'],
  LOST: ['Decided for the payer', 'red'],
  ACCEPTED: ['You accepted it', 'gray'],
}

/** The dispute's own life, newest first, with what is due. */
function happened(dispute: Dispute, submissions: readonly Submission[]): TimelineEntry[] {
  const { closedOn, createdOn, evidenceDueOn, evidenceRequest, evidenceRequestedOn, status } = dispute
  const [ended, color] = ENDS[status] ?? []
  const past = [
    {
      at: createdOn,
      title: `${rupees(dispute.amount)} held back: the bank reported the dispute`,
      color: 'orange',
    },
    ...submissions.flatMap(({ attachments, createdOn: at, receipt, sentOn }) => [
      { at, title: `Evidence submitted${withFiles(attachments.length)}`, color: 'indigo' },
      ...(sentOn
        ? [
            {
              at: sentOn,
              title: 'Evidence sent to the bank',
              detail: receipt && `Receipt ${receipt}`,
              color: 'teal',
            },
          ]
        : []),
    ]),
    ...(evidenceRequestedOn
      ? [
          {
            at: evidenceRequestedOn,
            title: 'More evidence asked for',
            detail: evidenceRequest,
            color: 'orange',
          },
        ]
      : []),
    ...(closedOn && ended ? [{ at: closedOn, title: ended, color }] : []),
  ].toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
  return isOpen(dispute) ? [{ at: evidenceDueOn, title: 'Due: evidence', color: 'yellow' }, ...past] : past
}

const withFiles = (files: number): string =>
  files === 0 ? '' : files === 1 ? ' with one file' : ` with ${files} files`
