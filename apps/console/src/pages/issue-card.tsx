import { notifications } from '@mantine/notifications'
import { useNavigate } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { type FormKey, once } from '../form-key.ts'
import { pathOf } from '../objects.ts'
import { HOLDER_RULES, HolderFields, type HolderValues, NO_HOLDER, orderOf } from '../parts/card-holder.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { queryClient } from '../session.ts'

/** Orders a card as the partner would; a repeat with the same key orders nothing twice. */
export async function issueCard(
  cardAccountId: string,
  holder: HolderValues,
  key: FormKey,
): Promise<Schemas['Card']> {
  const card = await responseOf(
    api.POST('/card-accounts/{cardAccountId}/cards', {
      params: { path: { cardAccountId }, header: once(key) },
      body: orderOf(holder),
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
