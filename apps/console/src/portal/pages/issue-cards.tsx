import { Alert, FileInput, Progress, Select, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { responseOf } from '../../api.ts'
import { type FormKey, once, partOf } from '../../form-key.ts'
import { pathOf } from '../../objects.ts'
import {
  HOLDER_RULES,
  HolderFields,
  type HolderValues,
  NO_HOLDER,
  orderOf,
} from '../../parts/card-holder.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { counted, rupees } from '../../parts/money.tsx'
import { api } from '../api.ts'
import { changed } from '../session.ts'
import { type HolderLine, readHolders } from './holders-file.ts'

interface Account {
  readonly cardAccountId: string
  readonly cardProgramme: string
  readonly companyName: string
  readonly denomination: number
  readonly balance: number
}

async function issue(cardAccountId: string, holder: HolderValues, key: FormKey, referenceNumber?: string) {
  const body = { ...orderOf(holder), ...(referenceNumber !== undefined && { referenceNumber }) }
  return responseOf(
    api.POST('/card-accounts/{cardAccountId}/cards', {
      params: { path: { cardAccountId }, header: once(key) },
      body,
    }),
  )
}

const refresh = () => changed('card-accounts', 'cards', 'overview', 'users')

/** Cards of this account: one by a form, or many by a file. */
export const IssueCards = ({ account }: { readonly account: Account }) => (
  <>
    <IssueFile account={account} />
    <IssueCard accounts={[account]} />
  </>
)

/** One card of one of these accounts, first of that with the most money. */
export function IssueCard({ accounts }: { readonly accounts: readonly Account[] }) {
  const navigate = useNavigate()
  const choices = accounts.toSorted((a, b) => b.balance - a.balance)
  return (
    <FormDialog
      label="Issue card"
      send="Issue"
      initial={{ ...NO_HOLDER, cardAccountId: choices[0]!.cardAccountId }}
      rules={HOLDER_RULES}
      fields={(form) => {
        const account = accounts.find(({ cardAccountId }) => cardAccountId === form.values.cardAccountId)!
        return (
          <>
            {choices.length > 1 && (
              <Select
                label="Card account"
                data={choices.map(({ cardAccountId, cardProgramme, companyName }) => ({
                  value: cardAccountId,
                  label: `${cardProgramme} of ${companyName}`,
                }))}
                allowDeselect={false}
                searchable
                {...form.getInputProps('cardAccountId')}
              />
            )}
            <Text size="sm" c="dimmed">
              The holder gets a card of {account.companyName}, loaded from {account.cardProgramme}, which has{' '}
              {rupees(account.balance)}.
            </Text>
            <HolderFields form={form} denomination={account.denomination} />
          </>
        )
      }}
      submit={async ({ cardAccountId, ...holder }, key) => {
        const { svcCardId, maskedNumber } = await issue(cardAccountId, holder as HolderValues, key)
        notifications.show({ color: 'teal', message: `Card ${maskedNumber} is issued.` })
        await refresh()
        await navigate({ to: pathOf('card', svcCardId) })
      }}
    />
  )
}

interface Draft {
  readonly name: string
  /** Names the file by what is in it: sent again, it issues nothing twice. */
  readonly digest: string
  readonly lines: readonly HolderLine[]
}

async function draftOf(file: File): Promise<Draft> {
  const text = await file.text()
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  const digest = Array.from(new Uint8Array(bytes).slice(0, 10), (byte) => byte.toString(16).padStart(2, '0'))
  return { name: file.name, digest: digest.join(''), lines: readHolders(text) }
}

/** Many cards by a file: first what would happen, line by line; then the cards, in the order of the file. */
function IssueFile({ account }: { readonly account: Account }) {
  const [draft, setDraft] = useState<Draft>()
  const [done, setDone] = useState(0)
  return (
    <FormDialog
      label="Issue by file"
      send={draft ? `Issue ${counted(draft.lines.length, 'card')}` : 'Issue'}
      variant="default"
      initial={{ file: '' }}
      rules={{ file: () => problemOf(draft, account) }}
      fields={(form) => (
        <Stack gap="sm">
          <Text size="sm">
            A CSV file whose first line names its columns: email or mobile, firstName, lastName, loadAmount.
            Nothing is issued before you press the button; the same file again issues no second card.
          </Text>
          <FileInput
            label="File"
            accept=".csv,text/csv"
            placeholder="cards.csv"
            error={form.errors['file']}
            onChange={(file) => {
              setDone(0)
              if (file) void draftOf(file).then(setDraft)
              else setDraft(undefined)
              form.clearErrors()
            }}
          />
          {draft && <DryRun draft={draft} account={account} />}
          {draft && done > 0 && (
            <Progress value={(done / draft.lines.length) * 100} aria-label="Cards issued" />
          )}
        </Stack>
      )}
      submit={async (_, key) => {
        const { digest, lines } = draft!
        for (const [index, { holder, line }] of lines.entries()) {
          try {
            await issue(account.cardAccountId, holder, partOf(key, line), `file-${digest}-${line}`)
          } catch (failed) {
            await refresh()
            throw failed
          }
          setDone(index + 1)
        }
        notifications.show({ color: 'teal', message: `${counted(lines.length, 'card')} issued.` })
        setDraft(undefined)
        await refresh()
      }}
    />
  )
}

const loadOf = ({ holder: { loadAmount } }: HolderLine, { denomination }: Account): number =>
  Number(loadAmount || denomination)

const totalOf = (lines: readonly HolderLine[], account: Account): number =>
  lines.reduce((sum, line) => sum + loadOf(line, account), 0)

function problemOf(draft: Draft | undefined, account: Account): string | null {
  if (!draft) return 'Choose a file'
  const { lines } = draft
  if (lines.length === 0) return 'The file has no lines after the names of its columns'
  const wrong = lines.filter(({ problem }) => problem !== undefined).length
  if (wrong > 0) return `Mend ${counted(wrong, 'line')} first`
  const total = totalOf(lines, account)
  return total > account.balance
    ? `The cards need ${rupees(total)}; the account has ${rupees(account.balance)}`
    : null
}

/** What the file would do: how many cards, for how much, and which lines are wrong. */
function DryRun({ draft: { lines, name }, account }: { readonly draft: Draft; readonly account: Account }) {
  const wrong = lines.filter(({ problem }) => problem !== undefined)
  const total = totalOf(lines, account)
  return (
    <>
      <Alert color={wrong.length > 0 || total > account.balance ? 'orange' : 'teal'} title={name}>
        {counted(lines.length, 'card')} for {rupees(total)}, of {rupees(account.balance)} on the account.
        {wrong.length > 0 && ` ${counted(wrong.length, 'line')} cannot be issued.`}
      </Alert>
      {wrong.length > 0 && (
        <DataTable
          caption="Lines that cannot be issued"
          columns={[
            { title: 'Line', cell: ({ line }: HolderLine) => String(line) },
            { title: 'What is wrong', cell: ({ problem }) => problem },
          ]}
          rows={wrong.slice(0, 20)}
          rowKey={({ line }) => String(line)}
        />
      )}
    </>
  )
}
