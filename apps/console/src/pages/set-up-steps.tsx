import { Button, Group, NumberInput, Radio, Select, Stack, Text, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { type FormKey, once } from '../form-key.ts'
import { Form } from '../parts/form.tsx'
import { needed } from '../parts/form-dialog.tsx'
import { queryClient, useSession } from '../session.ts'
import { PRODUCTS } from '../words.ts'
import { fundingForm } from './fund-card-account.tsx'
import type { SetUp } from './set-up-state.ts'

type Product = Schemas['CardAccount']['product']

export function PartnerStep() {
  const navigate = useNavigate()
  return (
    <Form
      send="Create and continue"
      initial={{ name: '', product: 'incentive' as Product }}
      rules={{ name: needed }}
      fields={(form) => (
        <>
          <TextInput label="Name" description="Of the partner" autoFocus {...form.getInputProps('name')} />
          <Select
            label="Product"
            description="Decides which record searches return"
            data={[...PRODUCTS]}
            allowDeselect={false}
            {...form.getInputProps('product')}
          />
        </>
      )}
      submit={async ({ name, product }, key) => {
        const body = { name: name.trim(), products: [product], firstClient: false }
        const { partner } = await responseOf(api.POST('/partners', { params: { header: once(key) }, body }))
        await queryClient.invalidateQueries({ queryKey: ['partners'] })
        await navigate({ to: `/partners/${partner.partnerId}/set-up`, replace: true })
      }}
    />
  )
}

const createAccount = (
  companyId: string,
  product: Product,
  { cardProgramme, denomination }: { cardProgramme: string; denomination: number | string },
  key: FormKey,
) => {
  const kind =
    product === 'employee_rewards'
      ? ({ accountType: 'EMPLOYEE_REWARDS', binType: 'REWARD' } as const)
      : ({ accountType: 'GIFT', binType: 'GIFT' } as const)
  const plan = { cardProgramme: cardProgramme.trim(), denomination: Number(denomination) }
  return responseOf(
    api.POST('/card-accounts', {
      params: { header: once(key) },
      body: { companyId, product, ...kind, ...plan },
    }),
  )
}

/** The company and its account; a company that is there from an earlier attempt is kept. */
export function AccountStep({ setUp: { partnerId, name, product, company } }: { readonly setUp: SetUp }) {
  return (
    <Form
      send="Create and continue"
      initial={{
        name: company?.name ?? name,
        cardProgramme: 'Gift cards',
        denomination: 500 as number | string,
      }}
      rules={{
        name: needed,
        cardProgramme: needed,
        denomination: (value: number | string) => (Number(value) >= 1 ? null : 'At least one rupee'),
      }}
      fields={(form) => (
        <>
          <TextInput
            label="Company"
            description="Legal name of the first customer of the partner; cards show it"
            disabled={company !== undefined}
            {...form.getInputProps('name')}
          />
          <TextInput
            label="Programme"
            description="Name of the card programme"
            {...form.getInputProps('cardProgramme')}
          />
          <NumberInput
            label="Load by default"
            description="Whole rupees on a card when the order names no amount"
            prefix="₹ "
            thousandsGroupStyle="lakh"
            thousandSeparator=","
            allowDecimal={false}
            allowNegative={false}
            {...form.getInputProps('denomination')}
          />
        </>
      )}
      submit={async ({ name: companyName, cardProgramme, denomination }, key) => {
        const { companyId } =
          company ??
          (await responseOf(
            api.POST('/companies', {
              params: { header: once(key) },
              body: { partnerId, name: companyName.trim() },
            }),
          ))
        try {
          await createAccount(companyId, product as Product, { cardProgramme, denomination }, key)
        } finally {
          // Also when the account was refused: the company is there, and the next attempt keeps it.
          for (const name of ['companies', 'card-accounts', 'partners'])
            await queryClient.invalidateQueries({ queryKey: [name] })
        }
      }}
    />
  )
}

interface KeyStepProps {
  readonly chosen: string | undefined
  readonly choose: (key: string) => void
}

/** Nothing is issued yet: the choice goes with the hand-over. */
export function KeyStep({ chosen = 'shared', choose }: KeyStepProps) {
  const [key, setKey] = useState(chosen)
  return (
    <Stack>
      <Radio.Group label="How does the partner encrypt its orders?" value={key} onChange={setKey}>
        <Stack mt="xs" gap="sm">
          <Radio
            value="shared"
            label="With a key that the service issues"
            description="Handed over with the credentials, when the link is opened"
          />
          <Radio
            value="own"
            label="To the service’s published keys"
            description="No secret to hand over; the partner registers its public key for responses later"
          />
        </Stack>
      </Radio.Group>
      <Group justify="flex-end">
        <Button onClick={() => choose(key)}>Continue</Button>
      </Group>
    </Stack>
  )
}

interface FundingStepProps {
  readonly setUp: SetUp
  readonly account: NonNullable<SetUp['cardAccount']>
  readonly later: () => void
}

const FIRST_CARDS = 20

/** The sandbox has no bank: everything is filled in. */
export function FundingStep({ setUp: { partnerId, name }, account, later }: FundingStepProps) {
  const { can, mode } = useSession()
  const skip = (
    <Button variant="default" onClick={later}>
      Continue without
    </Button>
  )
  if (!can('finance'))
    return (
      <Stack>
        <Text size="sm">
          The role finance enters what the partner pays in. Until then no card can be issued; the credentials
          can be handed over.
        </Text>
        <Group justify="flex-end">{skip}</Group>
      </Stack>
    )
  const form = fundingForm(
    account.cardAccountId,
    {
      amount: mode === 'sandbox' ? String(account.denomination * FIRST_CARDS) : '',
      reference: mode === 'sandbox' ? `SANDBOX ${partnerId.slice(-12)}` : '',
      reason: `First funding of ${name}`,
    },
    later,
  )
  const submit: typeof form.submit = async (values, key) => {
    await form.submit(values, key)
    await queryClient.invalidateQueries({ queryKey: ['partners'] })
  }
  return <Form {...form} submit={submit} beside={skip} />
}
