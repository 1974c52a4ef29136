import { Alert, Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, apiAt, fileAsBody, responseOf, type Schemas } from '../api.ts'
import { once } from '../form-key.ts'
import { AmountInWords } from '../parts/amount-in-words.tsx'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { factsOfPayment } from '../parts/disputed-payment.tsx'
import { EvidenceAsked, EvidenceForm, EvidenceList, SendingMark, timeLeft } from '../parts/evidence.tsx'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { History } from '../parts/history.tsx'
import { DownloadIcon } from '../parts/icons.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count, Money, rupees, sumOf } from '../parts/money.tsx'
import { Id, ObjectLink } from '../parts/object-link.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Reveal } from '../parts/personal-data.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'
import { CloseDispute } from './close-dispute.tsx'
import { DisputeChecklist } from './dispute-checklist.tsx'

type Detail = Schemas['DisputeDetail']

const changed = async () => {
  for (const key of ['disputes', 'payments', 'ledger', 'alerts'])
    await queryClient.invalidateQueries({ queryKey: [key] })
}

/** One dispute: what the payer says, what the merchant submitted, whether it was sent, and what it does to the books. */
export function Dispute() {
  const { disputeId = '' } = useParams({ strict: false })
  const query = useQuery({
    queryKey: ['disputes', disputeId],
    queryFn: () => responseOf(api.GET('/disputes/{disputeId}', { params: { path: { disputeId } } })),
    // Evidence is sent while the page is open.
    refetchInterval: 5_000,
  })
  const dispute = query.data
  return (
    <Page
      title={dispute ? titleOf(dispute) : 'Dispute'}
      badge={dispute && <StatusBadge state={dispute.status} />}
      lead={dispute && <Lead dispute={dispute} />}
      trail={[{ to: '/disputes', label: 'Disputes' }]}
      actions={dispute && <Actions dispute={dispute} />}
    >
      <Loaded query={query}>
        {(detail) => (
          <>
            <Note dispute={detail} />
            <EvidenceAsked dispute={detail}>
              {detail.merchantName} was asked for more evidence and has not submitted any since.
            </EvidenceAsked>
            <div className="with-side">
              <Stack gap="md" style={{ minWidth: 0 }}>
                <Section title="What the payer says">
                  <Text>{detail.reason ?? 'The bank gives no reason.'}</Text>
                  <Text size="sm" c="dimmed" mt={4}>
                    Reported by the bank <Instant at={detail.createdOn} long />
                  </Text>
                </Section>
                <Submitted dispute={detail} />
                {isOpen(detail) && <DisputeChecklist dispute={detail} />}
              </Stack>
              <Stack gap="md" style={{ minWidth: 0 }}>
                <About dispute={detail} />
                <Paid dispute={detail} />
                <Books dispute={detail} />
                <Payer dispute={detail} />
                <Shop dispute={detail} />
              </Stack>
              <Section title="What happened">
                <History entries={detail.history} />
              </Section>
            </div>
          </>
        )}
      </Loaded>
    </Page>
  )
}

const titleOf = ({ amount, payment: { payerVpa } }: Detail): string =>
  `${rupees(amount)} disputed${payerVpa ? ` by ${payerVpa}` : ''}`

const Lead = ({ dispute: { merchantId, merchantName, payment } }: { readonly dispute: Detail }) => (
  <Group gap="xs">
    <ObjectLink kind="merchant" id={merchantId}>
      {merchantName}
    </ObjectLink>
    <span>
      paid <Instant at={payment.createdOn} />
    </span>
  </Group>
)

const isOpen = ({ status }: Detail): boolean => status === 'OPEN' || status === 'EVIDENCE_SUBMITTED'

/** What has to be done, and by when. */
function Note({ dispute }: { readonly dispute: Detail }) {
  const { amount, evidenceDueOn, evidenceSentOn, merchantName, sendsBy, status, submissions } = dispute
  if (!isOpen(dispute)) return undefined
  const left = timeLeft(evidenceDueOn)
  const until = (
    <>
      <Instant at={evidenceDueOn} /> {left ? `(${left} left)` : '(over)'}
    </>
  )
  if (status === 'OPEN')
    return (
      <Alert color="orange" title="No evidence yet">
        Without evidence until {until} the payer wins, and {rupees(amount)} stays with the payer.
      </Alert>
    )
  if (evidenceSentOn)
    return (
      <Alert color="blue" title="Evidence sent: the network decides">
        More can be added and sent until {until}. {rupees(amount)} is held back from {merchantName} meanwhile.
      </Alert>
    )
  const { failure, nextAttemptOn } = submissions.at(-1) ?? {}
  return (
    <Alert color="orange" title="Evidence not sent yet">
      The bank must have it by {until}.{' '}
      {failure ? (
        <>
          The bank did not take it ({failure}); the next attempt is <Instant at={nextAttemptOn} />.
        </>
      ) : sendsBy === 'call' ? (
        'It is sent by itself within seconds.'
      ) : (
        'Download it, and hand it to the bank.'
      )}
    </Alert>
  )
}

const pathOf = (disputeId: string) => ({ params: { path: { disputeId } } })

function Actions({ dispute }: { readonly dispute: Detail }) {
  const { can } = useSession()
  const { amount, disputeId, evidenceDueOn, evidenceSentOn, merchantName, status, submissions } = dispute
  const mayContest = can('contest') && isOpen(dispute) && timeLeft(evidenceDueOn) !== undefined
  const waits = status === 'EVIDENCE_SUBMITTED' && !evidenceSentOn
  return (
    <>
      {can('finance') && <CloseDispute dispute={dispute} />}
      {can('finance') && isOpen(dispute) && (
        <ConfirmAction
          label="Accept the dispute"
          confirm={`Leave ${rupees(amount)} with the payer`}
          danger
          run={async (_, key) => {
            const sent = { params: { path: { disputeId }, header: once(key) }, body: {} }
            await responseOf(api.POST('/disputes/{disputeId}/accept', sent))
            await changed()
          }}
        >
          <b>{rupees(amount)}</b> (<AmountInWords amount={amount.toFixed(2)} />) of {merchantName} stays with
          the payer. This cannot be undone.
        </ConfirmAction>
      )}
      {mayContest && <AskForMore dispute={dispute} />}
      {mayContest && (
        <EvidenceForm
          isMore={submissions.length > 0}
          primary={submissions.length === 0}
          description={`What ${merchantName} shows: what was delivered, when and to whom. It goes to the bank as it is.`}
          upload={(file, key) =>
            responseOf(
              api.POST('/disputes/{disputeId}/attachments', {
                params: { path: { disputeId }, query: { name: file.name }, header: once(key) },
                ...fileAsBody(file),
              }),
            )
          }
          submit={async (body, key) => {
            const sent = { params: { path: { disputeId }, header: once(key) }, body }
            await responseOf(api.POST('/disputes/{disputeId}/evidence', sent))
            await changed()
          }}
        />
      )}
      {can('contest') && waits && <Send dispute={dispute} />}
    </>
  )
}

/** The merchant submits; what an operator misses is asked for here. */
const AskForMore = ({
  dispute: { disputeId, evidenceDueOn, merchantName },
}: {
  readonly dispute: Detail
}) => (
  <FormDialog
    label="Ask for more evidence"
    send="Ask the merchant"
    variant="default"
    initial={{ request: '' }}
    rules={{ request: needed }}
    fields={(form) => (
      <Textarea
        label="What is missing"
        description={
          <>
            {merchantName} reads it in the portal, and can submit evidence until{' '}
            <Instant at={evidenceDueOn} />.
          </>
        }
        required
        autosize
        minRows={3}
        maxLength={1000}
        {...form.getInputProps('request')}
      />
    )}
    submit={async ({ request }) => {
      await responseOf(
        api.POST('/disputes/{disputeId}/evidence-request', { ...pathOf(disputeId), body: { request } }),
      )
      await changed()
    }}
  />
)

const packageOf = (disputeId: string): string =>
  `${apiAt}/disputes/${encodeURIComponent(disputeId)}/evidence.zip`

/** Where the bank is called, only what failed is sent by hand. */
function Send({ dispute: { disputeId, sendsBy, submissions } }: { readonly dispute: Detail }) {
  const send = async () => {
    await responseOf(api.POST('/disputes/{disputeId}/send-evidence', pathOf(disputeId)))
    await changed()
  }
  if (sendsBy === 'call')
    return submissions.at(-1)?.failure ? (
      <ConfirmAction label="Send again now" confirm="Send again now" primary run={send}>
        The bank is called at once, and not only at the next attempt. It keeps one copy, however often it is
        called.
      </ConfirmAction>
    ) : undefined
  return (
    <ConfirmAction
      label="Send evidence to the bank…"
      confirm="Mark as sent and download"
      primary
      run={async () => {
        await send()
        window.location.assign(packageOf(disputeId))
      }}
    >
      You get one file with all that was submitted, for the bank. The merchant reads that it was sent. It can
      be downloaded again at any time.
    </ConfirmAction>
  )
}

function Submitted({ dispute }: { readonly dispute: Detail }) {
  const { can } = useSession()
  const { disputeId, evidenceReceipt, evidenceSentOn, sendsBy, submissions } = dispute
  const hrefOf = (attachmentId: string) =>
    `${apiAt}/disputes/${encodeURIComponent(disputeId)}/attachments/${encodeURIComponent(attachmentId)}`
  return (
    <Section
      title="What the merchant submitted"
      aside={
        can('contest') &&
        submissions.length > 0 && (
          <Button
            component="a"
            href={packageOf(disputeId)}
            download
            variant="default"
            size="compact-sm"
            leftSection={<DownloadIcon />}
          >
            All as one file
          </Button>
        )
      }
    >
      <EvidenceList
        submissions={submissions}
        hrefOf={can('contest') ? hrefOf : undefined}
        none="Nothing has been submitted."
      />
      {can('contest') && sendsBy === 'file' && evidenceSentOn && !evidenceReceipt && (
        <Stack mt="md" align="start">
          <RecordReceipt disputeId={disputeId} />
        </Stack>
      )}
    </Section>
  )
}

const RecordReceipt = ({ disputeId }: { readonly disputeId: string }) => (
  <FormDialog
    label="Record the receipt"
    send="Record the receipt"
    variant="default"
    initial={{ receipt: '' }}
    rules={{ receipt: needed }}
    fields={(form) => (
      <TextInput
        label="Receipt"
        description="By which the bank or the network names what it received"
        required
        maxLength={100}
        {...form.getInputProps('receipt')}
      />
    )}
    submit={async ({ receipt }) => {
      await responseOf(
        api.POST('/disputes/{disputeId}/receipt', {
          ...pathOf(disputeId),
          body: { receipt: receipt.trim() },
        }),
      )
      await changed()
    }}
  />
)

function About({ dispute }: { readonly dispute: Detail }) {
  const { closedOn, evidenceReceipt, evidenceSentOn } = dispute
  return (
    <Section title="Facts">
      <Facts
        cols={1}
        facts={[
          { label: 'Amount', value: <Money amount={dispute.amount} fw={700} fz="lg" /> },
          { label: 'Case', value: <Id id={dispute.caseReference} what="case" /> },
          { label: 'Evidence due', value: <Instant at={dispute.evidenceDueOn} /> },
          { label: 'Evidence', value: <SendingMark dispute={dispute} /> },
          { label: 'Sent to the bank', value: evidenceSentOn && <Instant at={evidenceSentOn} /> },
          { label: 'Receipt', value: evidenceReceipt },
          ...(closedOn ? [{ label: 'Decided', value: <Instant at={closedOn} /> }] : []),
          { label: 'Dispute id', value: <Id id={dispute.disputeId} what="dispute id" /> },
        ]}
      />
    </Section>
  )
}

function Paid({ dispute: { payment, payoutId, qrCode } }: { readonly dispute: Detail }) {
  return (
    <Section title="Payment" aside={<Reveal id={payment.paymentId} shown={payment} />}>
      <Facts
        cols={1}
        facts={[
          ...factsOfPayment(payment),
          {
            label: 'QR code',
            value: qrCode && (
              <ObjectLink kind="qrCode" id={qrCode.id}>
                {qrCode.name === qrCode.id ? undefined : qrCode.name}
              </ObjectLink>
            ),
          },
          { label: 'Paid out', value: payoutId ? <ObjectLink kind="payout" id={payoutId} /> : 'not yet' },
        ]}
      />
    </Section>
  )
}

/** What each journal of a dispute does. */
const EFFECTS: Readonly<Record<string, string>> = {
  dispute: 'Taken from what is owed to the merchant',
  dispute_won: 'Given back to the merchant',
  dispute_lost: 'Left with the payer',
  dispute_overturned: 'Loss taken back',
}

function Books({ dispute }: { readonly dispute: Detail }) {
  const journals = dispute.history.filter(({ source, what }) => source === 'journal' && what in EFFECTS)
  const { takenFromPayoutId } = dispute
  return (
    <Section title="Effect on the books">
      <Facts
        cols={1}
        facts={[
          { label: 'Held back now', value: <Money amount={dispute.held} fw={700} /> },
          ...(dispute.advanced === '0.00'
            ? []
            : [{ label: 'Beyond what was owed: an advance', value: <Money amount={dispute.advanced} /> }]),
          ...journals.map(({ at, id = '', lines = [], what }) => ({
            label: EFFECTS[what]!,
            value: (
              <Group gap="xs">
                <ObjectLink kind="journal" id={id}>
                  {rupees(sumOf(lines.flatMap(({ debit }) => debit ?? [])))}
                </ObjectLink>
                <Instant at={at} />
              </Group>
            ),
          })),
          ...(takenFromPayoutId
            ? [{ label: 'Deducted from', value: <ObjectLink kind="payout" id={takenFromPayoutId} /> }]
            : []),
        ]}
      />
    </Section>
  )
}

/** What else the payer paid to the merchant: who comes back seldom disputes without a cause. */
function Payer({ dispute: { ofPayer, payment } }: { readonly dispute: Detail }) {
  if (!ofPayer) return undefined
  return (
    <Section title="This payer, this shop">
      <Facts
        cols={1}
        facts={[
          { label: 'Payer', value: payment.payerVpa },
          {
            label: `Other payments of ${ofPayer.days} days`,
            value: `${count(ofPayer.payments)} of ${rupees(ofPayer.amount)}`,
          },
          { label: 'Refunded of them', value: <Money amount={ofPayer.refunded} /> },
          { label: 'Disputed of them', value: count(ofPayer.disputes) },
        ]}
      />
    </Section>
  )
}

const Shop = ({ dispute: { merchantName, ofMerchant } }: { readonly dispute: Detail }) => (
  <Section title={merchantName}>
    <Facts
      cols={1}
      facts={[
        {
          label: `Disputes of ${ofMerchant.days} days`,
          value: count(ofMerchant.disputes),
        },
        { label: 'Won', value: `${count(ofMerchant.won)} of ${count(ofMerchant.decided)} decided` },
      ]}
    />
  </Section>
)
