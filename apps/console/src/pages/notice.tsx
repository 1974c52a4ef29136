import { Alert, Code, NumberInput, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { notifyWaiting } from '../parts/notify-waiting.ts'
import { Id, ObjectLink } from '../parts/object-link.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Reveal } from '../parts/personal-data.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'
import { sentenceCase } from '../words.ts'
import { FundByNotice } from './fund-card-account.tsx'
import { meaningOf } from './notice-reasons.ts'

type Record = Schemas['NoticeRecord']
interface OfNotice {
  readonly notice: Record
}

export function Notice() {
  const { can } = useSession()
  const { noticeId = '' } = useParams({ strict: false })
  const query = useQuery({
    queryKey: ['notices', noticeId],
    queryFn: () => responseOf(api.GET('/rail-notices/{noticeId}', { params: { path: { noticeId } } })),
  })
  const notice = query.data
  const isWaiting = notice?.status === 'QUARANTINED'
  // A notice of a refund ends with the refund, by its own command.
  const isAssignable = isWaiting && !notice.flags.includes('refund_notice')
  return (
    <Page
      title={notice ? meaningOf(notice).title : 'Bank notice'}
      badge={notice && <StatusBadge state={notice.status} />}
      trail={[{ to: '/notices', label: 'Bank notices' }]}
      actions={
        <>
          {notice && <Reveal id={noticeId} shown={notice.body} />}
          {isAssignable && can('finance') && <Enter notice={notice} />}
          {isWaiting && can('finance') && <Dismiss notice={notice} />}
          {notice?.status === 'DISMISSED' && can('finance') && <Reopen notice={notice} />}
        </>
      }
    >
      <Loaded query={query}>
        {(loaded) => (
          <>
            <Alert color="blue" title="What to do" role="note">
              {meaningOf(loaded).toDo}
            </Alert>
            <About notice={loaded} />
            <Section title="The notice as the bank signed it">
              <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                {loaded.body}
              </Code>
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

function About({ notice }: OfNotice) {
  const {
    assignedBy,
    assignedOn,
    cardAccountId,
    detail,
    dismissal,
    field,
    flags,
    noticeId,
    paymentId,
    receivedOn,
    utr,
  } = notice
  const ended = dismissal === undefined ? 'Assigned' : 'Dismissed'
  return (
    <Section title="About">
      <Facts
        facts={[
          { label: 'Field', value: field && <Code>{field}</Code> },
          { label: 'What it states', value: detail },
          { label: 'UTR', value: utr && <Id id={utr} what="UTR" /> },
          { label: 'Payment', value: paymentId && <ObjectLink kind="payment" id={paymentId} /> },
          {
            label: 'Card account',
            value: cardAccountId && <ObjectLink kind="cardAccount" id={cardAccountId} />,
          },
          { label: 'Remarks', value: flags.map(sentenceCase).join(', ') },
          { label: 'Received', value: <Instant at={receivedOn} long /> },
          { label: `${ended} by`, value: assignedBy },
          { label: ended, value: assignedOn && <Instant at={assignedOn} long /> },
          { label: 'Why', value: dismissal },
          { label: 'Notice id', value: <Id id={noticeId} what="notice id" /> },
        ]}
      />
    </Section>
  )
}

function Enter({ notice }: OfNotice) {
  if (notice.flags.includes('transfer_notice')) return <FundByNotice notice={notice} />
  return notice.flags.includes('dispute_notice') ? (
    <CarryOutAgain notice={notice} />
  ) : (
    <Assign notice={notice} />
  )
}

/** Opens or ends the dispute that a notice reports, as the bank signed it. */
function CarryOutAgain({ notice: { noticeId } }: OfNotice) {
  return (
    <ConfirmAction
      label="Carry out again"
      confirm="Carry out again"
      run={async () => {
        await responseOf(
          api.POST('/rail-notices/{noticeId}/assign', { params: { path: { noticeId } }, body: {} }),
        )
        await queryClient.invalidateQueries({ queryKey: ['notices'] })
        await queryClient.invalidateQueries({ queryKey: ['disputes'] })
      }}
    >
      The notice is received again as the bank signed it: it opens its dispute, or ends it. If what kept it in
      quarantine is still so, nothing changes and the reason is shown.
    </ConfirmAction>
  )
}

function Dismiss({ notice: { noticeId } }: OfNotice) {
  return (
    <ConfirmAction
      label="Dismiss"
      confirm="Dismiss"
      withReason
      run={async (reason) => {
        await responseOf(
          api.POST('/rail-notices/{noticeId}/dismiss', { params: { path: { noticeId } }, body: { reason } }),
        )
        await queryClient.invalidateQueries({ queryKey: ['notices'] })
      }}
    >
      It ends without effect: nothing is recorded of it, and it stays stored as the bank signed it.
    </ConfirmAction>
  )
}

function Reopen({ notice: { noticeId } }: OfNotice) {
  return (
    <ConfirmAction
      label="Reopen"
      confirm="Reopen"
      withReason
      run={async (reason) => {
        await responseOf(
          api.POST('/rail-notices/{noticeId}/reopen', { params: { path: { noticeId } }, body: { reason } }),
        )
        await queryClient.invalidateQueries({ queryKey: ['notices'] })
      }}
    >
      It is in quarantine again. Who dismissed it, and why, stays in the audit.
    </ConfirmAction>
  )
}

const RULES = {
  utr: (value: string) => (value.trim().length >= 6 ? null : 'The bank’s reference: at least 6 characters'),
  amount: (value: number | string) => (Number(value) >= 0.01 ? null : 'At least one paisa'),
}

/** Enters the payment that a notice reports, as an operator reads it. */
function Assign({ notice: { noticeId, utr } }: OfNotice) {
  return (
    <FormDialog
      label="Enter the payment"
      send="Record payment"
      variant="default"
      initial={{ utr: utr ?? '', amount: '' as number | string, tr: '', payeeVpa: '' }}
      rules={RULES}
      fields={(form) => (
        <>
          <Text size="sm">
            The payment follows the rules of any credit: accepted, to be refunded, or in suspense.
          </Text>
          <TextInput label="UTR" maxLength={64} required data-autofocus {...form.getInputProps('utr')} />
          <NumberInput
            label="Amount in rupees"
            required
            prefix="₹ "
            thousandsGroupStyle="lakh"
            thousandSeparator=","
            decimalScale={2}
            allowNegative={false}
            {...form.getInputProps('amount')}
          />
          <TextInput
            label="Reference of the code (tr)"
            description="Of the QR code that was paid, if the bank knows it"
            maxLength={64}
            {...form.getInputProps('tr')}
          />
          <TextInput
            label="Address that was paid (VPA)"
            description="Names the merchant where there is no reference of a code"
            maxLength={255}
            {...form.getInputProps('payeeVpa')}
          />
        </>
      )}
      submit={async ({ amount, payeeVpa, tr, utr: typed }) => {
        const body = {
          utr: typed.trim(),
          amount: Number(amount),
          ...(tr.trim() && { tr: tr.trim() }),
          ...(payeeVpa.trim() && { payeeVpa: payeeVpa.trim() }),
        }
        const entered = await responseOf(
          api.POST('/rail-notices/{noticeId}/assign', { params: { path: { noticeId } }, body }),
        )
        if ('approvalId' in entered) notifyWaiting(entered.amount)
        await queryClient.invalidateQueries({ queryKey: ['notices'] })
        await queryClient.invalidateQueries({ queryKey: ['payments'] })
      }}
    />
  )
}
