#include "analyzer/app/app.h"
#include "rules/rules.h"

int main(int count, char **arguments)
{
	return app_main(count, arguments, rules_all());
}
