import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { once } from '../form-key.ts'
import { Form } from '../parts/form.tsx'
import { needed } from '../parts/form-dialog.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Facts, Page } from '../parts/page.tsx'
import { handOver, PersonInput } from '../parts/tenant-handovers.tsx'
import { queryClient, useSession } from '../session.ts'
import { BUSINESS_RULES, BusinessFields, NO_BUSINESS } from './merchant-form.tsx'
import { merchantSetUpQuery } from './merchant-steps.tsx'
import { bankAccountForm, feeForm } from './payout-terms-forms.tsx'
import { type Choices, SetUpDone, SetUpWizard, trailOf } from './set-up-wizard.tsx'

type SetUp = Schemas['MerchantSetUp']

const STEPS = ['Business', 'Bank account and fee', 'First member, hand-over'] as const

/** From a new merchant to the link that hands over its first key, in three steps. */
export function SetUpMerchant() {
  const { merchantId } = useParams({ strict: false })
  return merchantId === undefined ? <Wizard setUp={undefined} /> : <Continued merchantId={merchantId} />
}

function Continued({ merchantId }: { readonly merchantId: string }) {
  const query = useQuery(merchantSetUpQuery(merchantId))
  return query.data ? (
    <Wizard setUp={query.data} />
  ) : (
    <Page title="Onboard merchant" trail={trailOf('merchant')}>
      <Loaded query={query}>{() => undefined}</Loaded>
    </Page>
  )
}

/** `bank`: `later` when the account is set by another person. */
function stepOf(setUp: SetUp | undefined, { bank }: Choices): number {
  if (!setUp) return 0
  if (setUp.next === 'bank_account' && bank !== 'later') return 1
  return setUp.handedOver ? STEPS.length : 2
}

function Wizard({ setUp }: { readonly setUp: SetUp | undefined }) {
  const choices: Choices = useSearch({ strict: false })
  const [link, setLink] = useState<string>()
  return (
    <SetUpWizard
      kind="merchant"
      tenant={setUp && { id: setUp.merchantId, name: setUp.name }}
      steps={STEPS}
      step={stepOf(setUp, choices)}
      made={(step) => setUp && step === 0 && <Business setUp={setUp} />}
      form={(at, choose) => {
        if (!setUp) return <BusinessStep />
        if (at === 1) return <BankStep setUp={setUp} done={(bank) => choose({ bank })} />
        if (at === 2) return <HandoverStep setUp={setUp} setLink={setLink} />
        return <SetUpDone kind="merchant" id={setUp.merchantId} link={link} />
      }}
    />
  )
}

const Business = ({ setUp: { mcc, name, vpa } }: { readonly setUp: SetUp }) => (
  <Facts
    cols={2}
    facts={[
      { label: 'Name', value: name },
      { label: 'VPA', value: vpa },
      { label: 'Merchant category code', value: mcc },
    ]}
  />
)

function BusinessStep() {
  const navigate = useNavigate()
  return (
    <Form
      send="Create and continue"
      initial={NO_BUSINESS}
      rules={BUSINESS_RULES}
      fields={(form) => <BusinessFields form={form} />}
      submit={async (business, key) => {
        const { merchant } = await responseOf(
          api.POST('/merchants', { params: { header: once(key) }, body: { ...business, firstKey: false } }),
        )
        await queryClient.invalidateQueries({ queryKey: ['merchants'] })
        await navigate({ to: `/merchants/${merchant.merchantId}/set-up`, replace: true })
      }}
    />
  )
}

interface BankStepProps {
  readonly setUp: SetUp
  /** With what the step came to. */
  readonly done: (bank: 'set' | 'later') => void
}

function BankStep({ setUp: { merchantId, name }, done }: BankStepProps) {
  const { can } = useSession()
  const skip = (
    <Button variant="default" onClick={() => done('later')}>
      Continue without
    </Button>
  )
  if (!can('finance'))
    return (
      <Stack>
        <Text size="sm">
          The role finance sets the bank account and the fee, on the merchant’s page. Until then nothing is
          paid out; credentials can be handed over, and payments are accepted.
        </Text>
        <Group justify="flex-end">{skip}</Group>
      </Stack>
    )
  const account = bankAccountForm(merchantId, { holder: name })
  const fee = feeForm(merchantId)
  return (
    <Form
      send="Save and continue"
      initial={{ ...account.initial, ...fee.initial }}
      rules={{ ...account.rules, ...fee.rules }}
      fields={(form) => (
        <>
          {account.fields(form)}
          {fee.fields(form)}
        </>
      )}
      submit={async (values) => {
        // The fee first: the account, which ends the step, is only there when both are.
        await fee.submit(values)
        await account.submit(values)
        done('set')
      }}
      beside={skip}
    />
  )
}

interface HandoverStepProps {
  readonly setUp: SetUp
  readonly setLink: (link: string) => void
}

const HandoverStep = ({ setUp: { merchantId }, setLink }: HandoverStepProps) => (
  <Form
    send="Make the link"
    initial={{ name: '' }}
    rules={{ name: needed }}
    fields={(form) => <PersonInput {...form.getInputProps('name')} />}
    submit={async ({ name }) => {
      setLink(await handOver(merchantId, { name: name.trim(), sharedKey: false }))
      await queryClient.invalidateQueries({ queryKey: ['merchants', merchantId] })
    }}
  />
)
