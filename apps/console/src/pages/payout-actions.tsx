import { Alert, Anchor, Text, TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { AmountInWords } from '../parts/amount-in-words.tsx'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { rupees } from '../parts/money.tsx'
import { notifyWaiting } from '../parts/notify-waiting.ts'
import { queryClient, useSession } from '../session.ts'

type Row = Schemas['PayoutRow']
interface OfPayout {
  readonly row: Row
}

const changed = () => queryClient.invalidateQueries({ queryKey: ['payouts'] })
const pathOf = ({ payoutId }: Row) => ({ params: { path: { payoutId } } })

/** Whether the person who is signed in prepared it. */
const usePrepared = ({ preparedBy }: Row): boolean => preparedBy === `operator ${useSession().name}`

/** Says what a payout waits for, and why an action is not there. */
export function PayoutWaits({ row }: OfPayout) {
  const { can } = useSession()
  const isPreparer = usePrepared(row)
  const { returnedOn, status, utr } = row
  if (status === 'FAILED' && returnedOn !== undefined)
    return (
      <Alert color="orange" title="Came back from the bank" role="status">
        The bank paid it under {utr}, and its money came back. What it was made of is in the next payout:
        correct the merchant’s bank account before you prepare it.
      </Alert>
    )
  if (status === 'FAILED' && utr !== undefined)
    return (
      <Alert color="red" title="Paid after it had failed" role="status">
        The bank paid it under {utr}, and its money was paid out again or spent. Agree with the merchant or
        the bank on who returns it, then settle <code>payout_exceptions:{row.merchantId}</code> in the ledger.
      </Alert>
    )
  if (status === 'PREPARED')
    return (
      <Alert color="blue" title="Waits for a second person" role="status">
        {isPreparer
          ? 'You prepared this payout, so another person must approve it.'
          : can('finance')
            ? `Prepared by ${row.preparedBy}. Compare amount and bank account, then approve it.`
            : `Prepared by ${row.preparedBy}. An operator approves it; your role only views.`}
      </Alert>
    )
  if (status === 'APPROVED')
    return (
      <Alert color="blue" title="Approved, not sent yet" role="status">
        The next of the <BankFilesLink /> has it.
      </Alert>
    )
  if (status === 'SENT')
    return (
      <Alert color="blue" title="Sent to the bank" role="status">
        Record what the bank says of it here, or import the bank’s response under <BankFilesLink />.
      </Alert>
    )
  return undefined
}

const BankFilesLink = () => (
  <Anchor component={Link} to="/bank-files/out" size="sm">
    bank files
  </Anchor>
)

/** What may be done with a payout in its state, by who is signed in. */
export function PayoutActions({ row }: OfPayout) {
  const { can } = useSession()
  const isPreparer = usePrepared(row)
  const { status, utr } = row
  if (!can('finance')) return undefined
  return (
    <>
      {status === 'PREPARED' && !isPreparer && <Approve row={row} />}
      {(status === 'PREPARED' || status === 'APPROVED') && <Cancel row={row} />}
      {(status === 'SENT' || (status === 'FAILED' && utr === undefined)) && <MarkPaid row={row} />}
      {status === 'SENT' && <MarkFailed row={row} />}
      {status === 'PAID' && <MarkReturned row={row} />}
    </>
  )
}

/** What is paid, to whom: in figures and in words. */
function Paid({ row: { account, amount, merchantName } }: OfPayout) {
  return (
    <Text size="sm" component="div">
      <b>{rupees(amount)}</b> (<AmountInWords amount={amount} />) to {merchantName}, account ending in{' '}
      {account}.
    </Text>
  )
}

function Approve({ row }: OfPayout) {
  return (
    <ConfirmAction
      label="Approve"
      confirm="Approve payout"
      typed={row.amount.toFixed(2)}
      run={async () => {
        await responseOf(api.POST('/payouts/{payoutId}/approve', pathOf(row)))
        await changed()
      }}
    >
      <Paid row={row} />
      <Text size="sm" mt="xs">
        The next file for the bank has it. Until then it can be cancelled.
      </Text>
    </ConfirmAction>
  )
}

function Cancel({ row }: OfPayout) {
  return (
    <ConfirmAction
      label="Cancel payout"
      confirm="Cancel it for good"
      danger
      withReason
      run={async (reason) => {
        await responseOf(api.POST('/payouts/{payoutId}/cancel', { ...pathOf(row), body: { reason } }))
        await changed()
      }}
    >
      <Paid row={row} />
      <Text size="sm" mt="xs">
        What it was made of is payable again, and in the next payout.
      </Text>
    </ConfirmAction>
  )
}

function MarkPaid({ row }: OfPayout) {
  return (
    <FormDialog
      label="Mark as paid"
      send="Record as paid"
      variant="default"
      initial={{ utr: '' }}
      rules={{
        utr: (value: string) =>
          value.trim().length >= 6 ? null : 'The bank’s reference: at least 6 characters',
      }}
      fields={(form) => (
        <>
          <Paid row={row} />
          {row.status === 'FAILED' && (
            <Text size="sm" mt="xs">
              The bank had reported it as failed. If its money is still due, it is paid; if that was paid out
              again or spent, what the bank paid is an exception.
            </Text>
          )}
          <TextInput
            label="UTR"
            description="The bank’s own reference of this payout"
            maxLength={64}
            required
            data-autofocus
            {...form.getInputProps('utr')}
          />
        </>
      )}
      submit={async ({ utr }) => {
        const body = { status: 'PAID', utr: utr.trim() } as const
        await responseOf(api.POST('/payouts/{payoutId}/complete', { ...pathOf(row), body }))
        await changed()
      }}
    />
  )
}

function MarkFailed({ row }: OfPayout) {
  return (
    <ConfirmAction
      label="Mark as failed"
      confirm="Record as failed"
      danger
      withReason
      run={async (reason) => {
        const body = { status: 'FAILED', reason } as const
        const failed = await responseOf(api.POST('/payouts/{payoutId}/complete', { ...pathOf(row), body }))
        if ('approvalId' in failed) notifyWaiting(failed.amount)
        await changed()
      }}
    >
      <Paid row={row} />
      <Text size="sm" mt="xs">
        What it was made of is payable again, and in the next payout.
      </Text>
    </ConfirmAction>
  )
}

function MarkReturned({ row }: OfPayout) {
  return (
    <FormDialog
      label="Mark as returned"
      send="Record as returned"
      variant="default"
      initial={{ returnUtr: '', reason: '' }}
      rules={{
        returnUtr: (value: string) =>
          value.trim().length >= 6 ? null : 'The bank’s reference: at least 6 characters',
        reason: (value: string) => (value.trim() === '' ? 'Say why' : null),
      }}
      fields={(form) => (
        <>
          <Paid row={row} />
          <Text size="sm" mt="xs">
            For a payout whose money came back to our account. What it was made of is payable again, and in
            the next payout.
          </Text>
          <TextInput
            label="UTR of the return"
            description="The bank’s own reference of what came back"
            maxLength={64}
            required
            data-autofocus
            {...form.getInputProps('returnUtr')}
          />
          <TextInput label="Reason" maxLength={200} required {...form.getInputProps('reason')} />
        </>
      )}
      submit={async ({ reason, returnUtr }) => {
        const body = { status: 'FAILED', reason: reason.trim(), returnUtr: returnUtr.trim() } as const
        const failed = await responseOf(api.POST('/payouts/{payoutId}/complete', { ...pathOf(row), body }))
        if ('approvalId' in failed) notifyWaiting(failed.amount)
        await changed()
      }}
    />
  )
}
