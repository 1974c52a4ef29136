import { Alert, Box, Button, Group, Stepper, Text } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { Page, Section } from '../parts/page.tsx'
import { useSession } from '../session.ts'
import { LinkToSend } from './link-to-send.tsx'

/** Choices that no record of the service holds; they live in the address, so that a reload keeps them. */
export type Choices = Readonly<Record<string, string | undefined>>

interface SetUpWizardProps {
  readonly kind: 'merchant' | 'partner'
  /** The tenant, once there is one. */
  readonly tenant: { readonly id: string; readonly name: string } | undefined
  readonly steps: readonly string[]
  /** The one that is to be done next; after the last one, all are done. */
  readonly step: number
  /** What a step that is done has made; `undefined` for one that may be done again. */
  readonly made: (step: number) => ReactNode
  readonly form: (step: number, choose: (more: Choices) => void) => ReactNode
}

/** From a new tenant to its first credentials; each step is done when it is left. */
export function SetUpWizard({ kind, tenant, steps, step, made, form }: SetUpWizardProps) {
  const { can } = useSession()
  const navigate = useNavigate()
  const [shown, setShown] = useState<number>()
  const at = shown ?? step
  const choose = (more: Choices) => {
    setShown(undefined)
    void navigate({ to: '.', search: (old: object) => ({ ...old, ...more }) } as never)
  }
  const summary = at < step ? made(at) : undefined
  return (
    <Page
      title={tenant ? `Onboard ${tenant.name}` : `Onboard ${kind}`}
      lead={`Each step is done when you leave it: you can stop at any time and continue from the ${kind}’s page.`}
      trail={trailOf(kind, tenant)}
    >
      <Stepper
        active={step}
        onStepClick={(index) => setShown(index < step ? index : undefined)}
        allowNextStepsSelect={false}
        size="sm"
        wrap={false}
        className="steps"
      >
        {steps.map((label, index) => (
          <Stepper.Step key={label} label={label} allowStepSelect={index < step} />
        ))}
      </Stepper>
      <Box maw={720}>
        {can('operations') ? (
          <Section title={steps[at] ?? 'Done'}>
            {summary ? (
              <>
                {summary}
                <Button mt="md" variant="default" onClick={() => setShown(undefined)}>
                  Back to {steps[step] ?? 'the end'}
                </Button>
              </>
            ) : (
              form(at, choose)
            )}
          </Section>
        ) : (
          <Alert color="orange" title="Not allowed with your role">
            <Text size="sm">Tenants are set up by administrators, operators and operations.</Text>
          </Alert>
        )}
      </Box>
    </Page>
  )
}

export const trailOf = (kind: SetUpWizardProps['kind'], tenant?: SetUpWizardProps['tenant']) => [
  { to: `/${kind}s`, label: kind === 'merchant' ? 'Merchants' : 'Partners' },
  ...(tenant ? [{ to: `/${kind}s/${tenant.id}`, label: tenant.name }] : []),
]

interface SetUpDoneProps {
  readonly kind: SetUpWizardProps['kind']
  readonly id: string
  readonly link: string | undefined
  readonly children?: ReactNode
}

/** The end: the link, if it was made just now, and the way to the tenant. */
export function SetUpDone({ kind, id, link, children }: SetUpDoneProps) {
  return (
    <>
      {link && <LinkToSend link={link} />}
      {children}
      <Group justify="flex-end" mt="md">
        <Button component={Link} to={`/${kind}s/${id}`} variant={link ? 'default' : 'filled'}>
          Go to the {kind}
        </Button>
      </Group>
    </>
  )
}
