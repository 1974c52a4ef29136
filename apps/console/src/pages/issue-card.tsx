import { Group, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useNavigate } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { type FormKey, once } from '../form-key.ts'
import { pathOf } from '../objects.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { rupees } from '../parts/money.tsx'
import { queryClient } from '../session.ts'
import { E_MAIL } from './e-mail.ts'

export interface HolderValues extends Record<string, unknown> {
  readonly firstName: string
  readonly lastName: string
  readonly email: string
  readonly mobile: string
  readonly loadAmount: string
}
export const NO_HOLDER: HolderValues = { firstName: '', lastName: '', email: '', mobile: '', loadAmount: '' }

export const HOLDER_RULES = {
  email: (value: string, { mobile }: HolderValues) =>
    (value === '' && mobile !== '') || E_MAIL.test(value)
      ? null
      : 'An e-mail address, or a mobile number below',
  mobile: (value: string) => (value === '' || /^\d{10}$/.test(value) ? null : 'Must be exactly 10 digits'),
  loadAmount: (value: string) =>
    value === '' || /^[1-9]\d{0,8}$/.test(value) ? null : 'A whole number of rupees, at least 1',
}

/** Whom the card is for, and what is loaded. */
export function HolderFields<V extends HolderValues>({
  form,
  denomination,
}: {
  readonly form: UseFormReturnType<V>
  readonly denomination: number
}) {
  return (
    <>
      <TextInput label="E-mail of the holder" type="email" {...form.getInputProps('email')} />
      <Group grow align="start">
        <TextInput label="First name" {...form.getInputProps('firstName')} />
        <TextInput label="Last name" {...form.getInputProps('lastName')} />
      </Group>
      <Group grow align="start">
        <TextInput label="Mobile" inputMode="tel" {...form.getInputProps('mobile')} />
        <TextInput
          label="Load in rupees"
          placeholder={rupees(denomination)}
          inputMode="numeric"
          {...form.getInputProps('loadAmount')}
        />
      </Group>
    </>
  )
}

/** Orders a card as the partner would; a repeat with the same key orders nothing twice. */
export async function issueCard(
  cardAccountId: string,
  { firstName, lastName, email, mobile, loadAmount }: HolderValues,
  key: FormKey,
): Promise<Schemas['Card']> {
  const given = Object.entries({ firstName, lastName, email, mobile, loadAmount }).filter(
    ([, value]) => value !== '',
  )
  const card = await responseOf(
    api.POST('/card-accounts/{cardAccountId}/cards', {
      params: { path: { cardAccountId }, header: once(key) },
      body: Object.fromEntries(given),
    }),
  )
  for (const name of ['card-accounts', 'cards', 'ledger', 'users'])
    await queryClient.invalidateQueries({ queryKey: [name] })
  return card
}

/** A button that issues a gift card from this account. */
export function IssueCard({ account }: { readonly account: Schemas['CardAccountDetail'] }) {
  const navigate = useNavigate()
  return (
    <FormDialog
      label="Issue card"
      send="Issue"
      initial={NO_HOLDER}
      rules={HOLDER_RULES}
      fields={(form) => <HolderFields form={form} denomination={account.denomination} />}
      submit={async (values, key) => {
        const { svcCardId, maskedNumber } = await issueCard(account.cardAccountId, values, key)
        notifications.show({ color: 'teal', message: `Card ${maskedNumber} is issued.` })
        await navigate({ to: pathOf('card', svcCardId) })
      }}
    />
  )
}
