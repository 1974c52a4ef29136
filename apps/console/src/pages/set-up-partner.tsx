import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { lazyPart } from '../parts/lazy-part.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { type PartnerChoices, type SetUp, STEPS, setUpQuery, stepOf } from './set-up-state.ts'
import { FirstCard, WhatThereIs } from './set-up-summary.tsx'
import { type Choices, SetUpDone, SetUpWizard, trailOf } from './set-up-wizard.tsx'

const steps = () => import('./set-up-steps.tsx')
const PartnerStep = lazyPart(async () => (await steps()).PartnerStep)
const AccountStep = lazyPart(async () => (await steps()).AccountStep)
const KeyStep = lazyPart(async () => (await steps()).KeyStep)
const FundingStep = lazyPart(async () => (await steps()).FundingStep)
const SetUpCard = lazyPart(async () => (await import('./set-up-card.tsx')).SetUpCard)

/** From a new partner to its first card and its credentials, in five steps. */
export function SetUpPartner() {
  const { partnerId } = useParams({ strict: false })
  return partnerId === undefined ? <Wizard setUp={undefined} /> : <Continued partnerId={partnerId} />
}

function Continued({ partnerId }: { readonly partnerId: string }) {
  const query = useQuery(setUpQuery(partnerId))
  return query.data ? (
    <Wizard setUp={query.data} />
  ) : (
    <Page title="Onboard partner" trail={trailOf('partner')}>
      <Loaded query={query}>{() => undefined}</Loaded>
    </Page>
  )
}

const KEY_STEP = 2

function Wizard({ setUp }: { readonly setUp: SetUp | undefined }) {
  const choices: PartnerChoices = useSearch({ strict: false })
  const [link, setLink] = useState<string>()
  return (
    <SetUpWizard
      kind="partner"
      tenant={setUp && { id: setUp.partnerId, name: setUp.name }}
      steps={STEPS}
      step={stepOf(setUp, choices)}
      made={(step) => setUp && step !== KEY_STEP && <WhatThereIs setUp={setUp} step={step} />}
      form={(at, choose) => (
        <Step at={at} setUp={setUp} choices={choices} choose={choose} link={link} setLink={setLink} />
      )}
    />
  )
}

interface StepProps {
  readonly at: number
  readonly setUp: SetUp | undefined
  readonly choices: PartnerChoices
  readonly choose: (more: Choices) => void
  readonly link: string | undefined
  readonly setLink: (link: string) => void
}

function Step({ at, setUp, choices, choose, link, setLink }: StepProps) {
  if (!setUp) return <PartnerStep />
  if (at === 1) return <AccountStep setUp={setUp} />
  if (at === KEY_STEP)
    return setUp.handedOver ? (
      <WhatThereIs setUp={setUp} step={KEY_STEP} />
    ) : (
      <KeyStep chosen={choices.key} choose={(key) => choose({ key })} />
    )
  if (at === 3 && setUp.cardAccount)
    return (
      <FundingStep setUp={setUp} account={setUp.cardAccount} later={() => choose({ funding: 'later' })} />
    )
  if (at === 4)
    return <SetUpCard setUp={setUp} sharedKey={choices.key !== 'own'} link={link} setLink={setLink} />
  return (
    <SetUpDone kind="partner" id={setUp.partnerId} link={link}>
      <FirstCard setUp={setUp} />
    </SetUpDone>
  )
}
