import { Alert, Box, Button, Stepper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { lazyPart } from '../parts/lazy-part.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page, Section } from '../parts/page.tsx'
import { useSession } from '../session.ts'
import { type Choices, type SetUp, STEPS, setUpQuery, stepOf } from './set-up-state.ts'
import { AccountStep, FundingStep, KeyStep, PartnerStep } from './set-up-steps.tsx'
import { WhatThereIs } from './set-up-summary.tsx'

const SetUpCard = lazyPart(async () => (await import('./set-up-card.tsx')).SetUpCard)
const SetUpDone = lazyPart(async () => (await import('./set-up-done.tsx')).SetUpDone)

/** From a new partner to its first card and its credentials, in five steps; each is done when it is left. */
export function SetUpPartner() {
  const { partnerId } = useParams({ strict: false })
  return partnerId === undefined ? <Wizard setUp={undefined} /> : <Continued partnerId={partnerId} />
}

function Continued({ partnerId }: { readonly partnerId: string }) {
  const query = useQuery(setUpQuery(partnerId))
  return query.data ? (
    <Wizard setUp={query.data} />
  ) : (
    <Page title="Onboard partner" trail={TRAIL}>
      <Loaded query={query}>{() => undefined}</Loaded>
    </Page>
  )
}

const TRAIL = [{ to: '/partners', label: 'Partners' }]

function Wizard({ setUp }: { readonly setUp: SetUp | undefined }) {
  const { can } = useSession()
  const navigate = useNavigate()
  const choices: Choices = useSearch({ strict: false })
  const step = stepOf(setUp, choices)
  const [shown, setShown] = useState<number>()
  const [link, setLink] = useState<string>()
  const at = shown ?? step
  const choose = (more: Choices) => {
    setShown(undefined)
    void navigate({ to: '.', search: (old: object) => ({ ...old, ...more }) } as never)
  }
  return (
    <Page
      title={setUp ? `Onboard ${setUp.name}` : 'Onboard partner'}
      lead="Each step is done when you leave it: you can stop at any time and continue from the partner’s page."
      trail={setUp ? [...TRAIL, { to: `/partners/${setUp.partnerId}`, label: setUp.name }] : TRAIL}
    >
      <Stepper
        active={step}
        onStepClick={(index) => setShown(index < step ? index : undefined)}
        allowNextStepsSelect={false}
        size="sm"
        wrap={false}
        className="steps"
      >
        {STEPS.map((label, index) => (
          <Stepper.Step key={label} label={label} allowStepSelect={index < step} />
        ))}
      </Stepper>
      <Box maw={720}>
        {can('operations') ? (
          <Section title={STEPS[at] ?? 'Done'}>
            {at < step && setUp && at !== 2 ? (
              <>
                <WhatThereIs setUp={setUp} step={at} />
                <Button mt="md" variant="default" onClick={() => setShown(undefined)}>
                  Back to {STEPS[step] ?? 'the end'}
                </Button>
              </>
            ) : (
              <Step at={at} setUp={setUp} choices={choices} choose={choose} link={link} setLink={setLink} />
            )}
          </Section>
        ) : (
          <Alert color="orange" title="Not allowed with your role">
            <Text size="sm">Partners are set up by administrators, operators and operations.</Text>
          </Alert>
        )}
      </Box>
    </Page>
  )
}

interface StepProps {
  readonly at: number
  readonly setUp: SetUp | undefined
  readonly choices: Choices
  readonly choose: (more: Choices) => void
  readonly link: string | undefined
  readonly setLink: (link: string) => void
}

function Step({ at, setUp, choices, choose, link, setLink }: StepProps) {
  if (!setUp) return <PartnerStep />
  if (at === 1) return <AccountStep setUp={setUp} />
  if (at === 2)
    return setUp.handedOver ? (
      <WhatThereIs setUp={setUp} step={2} />
    ) : (
      <KeyStep chosen={choices.key} choose={(key) => choose({ key })} />
    )
  if (at === 3 && setUp.cardAccount)
    return (
      <FundingStep setUp={setUp} account={setUp.cardAccount} later={() => choose({ funding: 'later' })} />
    )
  if (at === 4)
    return (
      <SetUpCard
        setUp={setUp}
        sharedKey={choices.key !== 'own'}
        link={link}
        setLink={setLink}
        choose={choose}
      />
    )
  return <SetUpDone setUp={setUp} link={link} />
}
