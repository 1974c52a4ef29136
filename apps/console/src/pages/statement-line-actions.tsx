import { Group, Radio, Select, Stack, Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { AmountInWords } from '../parts/amount-in-words.tsx'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { dayText } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { rupees } from '../parts/money.tsx'
import { notifyWaiting } from '../parts/notify-waiting.ts'
import { queryClient } from '../session.ts'

type Line = Schemas['StatementLine']
interface OfLine {
  readonly line: Line
}

const changed = () => queryClient.invalidateQueries({ queryKey: ['statement-lines'] })
const pathOfLine = ({ lineId }: Line) => ({ params: { path: { lineId } } })

/** What may be done with a line: what fits nothing is matched or resolved, a match is taken back. */
export function LineActions({ line }: OfLine) {
  if (line.status !== 'UNMATCHED') return <Unmatch line={line} />
  return (
    <Group gap={4} wrap="nowrap">
      <Match line={line} />
      <Resolve line={line} />
      <Owner line={line} />
    </Group>
  )
}

/** What a dialog is about. */
const Stated = ({ line: { amount, date, reference, narration } }: OfLine) => (
  <Text size="sm" component="div">
    <b>{rupees(amount)}</b> (<AmountInWords amount={amount.replace('-', '')} />) on {dayText(date)}
    {reference && `, reference ${reference}`}
    {narration && `: ${narration}`}.
  </Text>
)

const ReasonField = (input: object) => (
  <TextInput
    label="Reason"
    description="Stored with the change, for later questions"
    required
    maxLength={255}
    {...input}
  />
)

interface MatchValues extends Record<string, unknown> {
  /** One of the candidates, or the id of another movement. */
  readonly documentId: string
  readonly other: string
  readonly reason: string
}

const Match = ({ line }: OfLine) => (
  <FormDialog<MatchValues>
    label="Match the line"
    compact="Match"
    send="Match"
    variant="default"
    initial={{ documentId: '', other: '', reason: '' }}
    rules={{
      other: (other: string, { documentId }: MatchValues) => needed(other.trim() || documentId),
      reason: needed,
    }}
    fields={(form) => (
      <>
        <Stated line={line} />
        <Candidates line={line} form={form} />
        <ReasonField {...form.getInputProps('reason')} />
      </>
    )}
    submit={async ({ documentId, other, reason }) => {
      const body = { documentId: other.trim() || documentId, reason: reason.trim() }
      await responseOf(api.POST('/statement-lines/{lineId}/match', { ...pathOfLine(line), body }))
      await changed()
    }}
  />
)

interface CandidatesProps extends OfLine {
  readonly form: UseFormReturnType<MatchValues>
}

/** Movements of the same amount; another one is named by its id, from its page. */
function Candidates({ line, form }: CandidatesProps) {
  const query = useQuery({
    queryKey: ['statement-lines', line.lineId, 'candidates'],
    queryFn: () => responseOf(api.GET('/statement-lines/{lineId}/candidates', pathOfLine(line))),
  })
  return (
    <Loaded query={query}>
      {({ data }) => (
        <Stack gap="sm">
          {data.length > 0 && (
            <Radio.Group label="Of the same amount" {...form.getInputProps('documentId')}>
              <Stack gap={6} mt={4}>
                {data.map(({ documentId, kind, name, date }) => (
                  <Radio
                    key={documentId}
                    value={documentId}
                    label={`${kind === 'payout' ? 'Payout to' : 'Transfer'} ${name} of ${dayText(date)}`}
                  />
                ))}
              </Stack>
            </Radio.Group>
          )}
          <TextInput
            label={data.length > 0 ? 'Or another movement' : 'Movement'}
            description="The id on the page of the transfer, payout, refund or journal"
            {...form.getInputProps('other')}
          />
        </Stack>
      )}
    </Loaded>
  )
}

const RESOLUTIONS = [
  { value: 'charge', label: 'A charge of the bank' },
  { value: 'charge_gst', label: 'GST on a charge of the bank' },
  { value: 'interest', label: 'Interest' },
  { value: 'suspense', label: 'Money of a merchant or payer who is not known yet' },
  { value: 'exception', label: 'The bank took it without an explanation, or gave that back' },
  { value: 'own_funds', label: 'Our own money' },
] as const
type Resolution = (typeof RESOLUTIONS)[number]['value']

const Resolve = ({ line }: OfLine) => (
  <FormDialog
    label="Resolve the line"
    compact="Resolve"
    send={`Post ${rupees(line.amount)}`}
    variant="default"
    initial={{ as: '', reason: '' }}
    rules={{ as: needed, reason: needed }}
    fields={(form) => (
      <>
        <Stated line={line} />
        <Select label="What it is" required data={[...RESOLUTIONS]} {...form.getInputProps('as')} />
        <Text size="sm">
          It is posted on the day of the line, and stays resolved: reversing its journal takes it back.
        </Text>
        <ReasonField {...form.getInputProps('reason')} />
      </>
    )}
    submit={async ({ as, reason }) => {
      const body = { as: as as Resolution, reason: reason.trim() }
      const resolved = await responseOf(
        api.POST('/statement-lines/{lineId}/resolve', { ...pathOfLine(line), body }),
      )
      if ('approvalId' in resolved) notifyWaiting(resolved.amount)
      await changed()
    }}
  />
)

const Owner = ({ line }: OfLine) => (
  <FormDialog
    label="Name the owner of the line"
    compact="Owner"
    send="Save"
    variant="default"
    initial={{ owner: line.owner }}
    rules={{ owner: needed }}
    fields={(form) => (
      <>
        <Stated line={line} />
        <TextInput
          label="Who finds out what it is"
          required
          maxLength={100}
          {...form.getInputProps('owner')}
        />
      </>
    )}
    submit={async ({ owner }) => {
      const body = { owner: owner.trim() }
      await responseOf(api.POST('/statement-lines/{lineId}/owner', { ...pathOfLine(line), body }))
      await changed()
    }}
  />
)

/** What was posted for a line that was resolved is a posting like others: above the limit a second person takes it back. */
const Unmatch = ({ line }: OfLine) => (
  <ConfirmAction
    label={line.status === 'RESOLVED' ? 'Take the resolution back' : 'Take the match back'}
    confirm="Take it back"
    compact
    danger
    withReason
    run={async (reason) => {
      if (line.status !== 'RESOLVED')
        await responseOf(
          api.POST('/statement-lines/{lineId}/unmatch', { ...pathOfLine(line), body: { reason } }),
        )
      else {
        const path = { params: { path: { journalId: line.journalId } } }
        const reversed = await responseOf(
          api.POST('/ledger/journals/{journalId}/reverse', { ...path, body: { reason } }),
        )
        if ('approvalId' in reversed) notifyWaiting(reversed.amount)
      }
      await changed()
    }}
  >
    <Stated line={line} />
    <Text size="sm" mt="xs">
      What was posted because of it is reversed on the same day. The line waits again, and can be matched or
      resolved otherwise.
    </Text>
  </ConfirmAction>
)
