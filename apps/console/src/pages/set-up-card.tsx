import { Alert, Text } from '@mantine/core'
import { type FormKey } from '../form-key.ts'
import { HOLDER_RULES, HolderFields, type HolderValues, NO_HOLDER } from '../parts/card-holder.tsx'
import { Form } from '../parts/form.tsx'
import { needed } from '../parts/form-dialog.tsx'
import { handOver, PersonInput } from '../parts/tenant-handovers.tsx'
import { queryClient } from '../session.ts'
import { issueCard } from './issue-card.tsx'
import { LinkToSend } from './link-to-send.tsx'
import type { SetUp } from './set-up-state.ts'

interface SetUpCardProps {
  readonly setUp: SetUp
  readonly sharedKey: boolean
  readonly link: string | undefined
  readonly setLink: (link: string) => void
}

interface Values extends HolderValues {
  /** Of the person; the service’s name of the field, so that its errors are shown there. */
  readonly name: string
}

/** Card and link with one button; what an earlier attempt has done is not done again. */
export function SetUpCard({ setUp, sharedKey, link, setLink }: SetUpCardProps) {
  const { partnerId, cardAccount, card, handedOver, next } = setUp
  const wantsCard = card === undefined && next !== 'funding' && cardAccount !== undefined
  const both = wantsCard && !handedOver
  const submit = async ({ name, ...holder }: Values, key: FormKey) => {
    try {
      if (wantsCard) await issueCard(cardAccount.cardAccountId, holder, key)
      if (!handedOver) setLink(await handOver(partnerId, { name: name.trim(), sharedKey }))
    } finally {
      await queryClient.invalidateQueries({ queryKey: ['partners'] })
    }
  }
  return (
    <>
      {link && <LinkToSend link={link} />}
      {next === 'funding' && (
        <Alert color="orange" title="The card comes later" mb="md">
          <Text size="sm">
            The card account has less than a card is loaded with. Once the money is entered, issue the first
            card here or on the page of the card account.
          </Text>
        </Alert>
      )}
      {(wantsCard || !handedOver) && (
        <Form<Values>
          send={both ? 'Issue card and make the link' : wantsCard ? 'Issue card' : 'Make the link'}
          initial={{ ...NO_HOLDER, name: '' }}
          rules={{ ...(wantsCard && HOLDER_RULES), ...(!handedOver && { name: needed }) }}
          fields={(form) => (
            <>
              {wantsCard && <HolderFields form={form} denomination={cardAccount.denomination} />}
              {!handedOver && <PersonInput {...form.getInputProps('name')} />}
            </>
          )}
          submit={submit}
        />
      )}
    </>
  )
}
