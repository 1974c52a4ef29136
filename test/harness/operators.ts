import type { CommandAudit } from '@svc/platform/audit'
import type { AnyCommand, Commands, OpenCommand } from '@svc/platform/command'

/** Commands in the name of an operator, as console and command line run them: on the operators' login, and on record. */
export const operatorsOf = (commands: Pick<Commands, 'open'>): Pick<Commands, 'open'> => ({
  open<Args, D>(command: AnyCommand<Args, D>): OpenCommand<Args, D> {
    const opened = commands.open(command)
    const audit: CommandAudit<D> = { actor: 'operator tests', action: `test.${command.name}`, target: 'test' }
    return { ...opened, run: (args, own = audit) => opened.run(args, own) }
  },
})
